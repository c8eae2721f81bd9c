//! A fault schedule on a job's network.

use std::collections::BTreeSet;
use std::time::Duration;

use inart_connections::PeerNo;
use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{Capabilities, Schedule, Step, Victim};
use inart_topologies::ps::Job;
use inart_topologies::switched::{Job as Planned, LinkId, NodeId, Topology};
use inart_world::Fault;

use super::access_links::{Access, AccessLink, Change, Endpoint, Random};
use super::error::AgentError;
use super::machine::{SERVER, peer};

/// Faults of a schedule that runs of agents support.
pub const CAPABILITIES: Capabilities = Capabilities {
    controller: false,
    scheduler: false,
    frames: true,
    lasting: false,
    worker_restart: true,
    injection: false,
    rates: true,
    connections: true,
    tcp: false,
    frame_bytes: 64..=9000,
};

/// A job on its network, with its faults.
pub struct Planning<'t> {
    pub topology: &'t Topology,
    pub job: &'t Job,
    /// Hosts of the job in the topology.
    pub participants: Vec<NodeId>,
    pub servers: Vec<NodeId>,
}

/// Events of a run.
pub struct Plan {
    pub faults: Vec<(Duration, Fault<Change>, String)>,
    /// Participants whose processes end and do not restart.
    pub gone: BTreeSet<usize>,
    /// Whether the server restarts.
    pub restarts: bool,
    pub access_links: Vec<AccessLink>,
    pub server: AccessLink,
}

impl<'t> Planning<'t> {
    /// Finds a job's hosts; `None` if the topology has no such job.
    pub fn new(topology: &'t Topology, job: &'t Job) -> Option<Self> {
        let planned: &Planned = topology.jobs().iter().find(|planned| planned.name == job.name)?;
        let (participants, servers) = (planned.workers.clone(), planned.servers.clone());
        Some(Planning { topology, job, participants, servers })
    }

    /// Resolves a schedule.
    ///
    /// # Errors
    /// The first step that is not simulated.
    pub fn resolve(&self, schedule: &Schedule) -> Result<Plan, AgentError> {
        self.check_links(schedule)?;
        let places = (0..).map(Endpoint::Participant).zip(self.participants.iter().map(|host| vec![*host]));
        let places: Vec<_> = places.chain([(Endpoint::Server, self.servers.clone())]).collect();
        let mut access = Access::new(self.topology, places);
        let mut plan = Plan {
            faults: Vec::new(),
            gone: BTreeSet::new(),
            restarts: false,
            access_links: self.access_links(schedule),
            server: AccessLink {
                rates_bps: [self.job.server.in_bps, self.job.server.out_bps],
                delay_s: 0.0,
                faults: self.random(schedule, &self.servers),
                part: 1.0,
            },
        };
        for (at, step) in &schedule.steps {
            for fault in self.step(*step, &mut access, &mut plan)? {
                plan.faults.push((at.duration(), fault, step.describe(self.topology)));
            }
        }
        self.check_server(schedule)?;
        Ok(plan)
    }

    fn access_links(&self, schedule: &Schedule) -> Vec<AccessLink> {
        let link = |(host, one): (&NodeId, &inart_topologies::ps::Participant)| AccessLink {
            rates_bps: [one.nic.out_bps, one.nic.in_bps],
            delay_s: one.delay_s,
            // A participant's first direction leads away from it.
            faults: {
                let [to, from] = self.random(schedule, &[*host]);
                [from, to]
            },
            part: 1.0,
        };
        self.participants.iter().zip(&self.job.participants).map(link).collect()
    }

    /// Returns the effects of links on messages to and from these hosts.
    fn random(&self, schedule: &Schedule, hosts: &[NodeId]) -> [Random; 2] {
        let towards = |is_to: bool| {
            let links = hosts
                .iter()
                .flat_map(|host| self.topology.neighbors(*host).map(move |(_, link)| (*host, link)));
            let access_links = links.map(|(host, link): (NodeId, LinkId)| {
                // The first direction of a link starts at its first end.
                let from_host = usize::from(self.topology.link(link).ends[0] != host);
                &schedule.links[link.index()][if is_to { 1 - from_host } else { from_host }]
            });
            Random::of(access_links)
        };
        [towards(true), towards(false)]
    }

    fn step(
        &self,
        step: Step,
        access: &mut Access<'_>,
        plan: &mut Plan,
    ) -> Result<Vec<Fault<Change>>, AgentError> {
        let wrong = |why, fix| AgentError::Fault { what: step.describe(self.topology), why, fix };
        let changes = |changes: Vec<Change>| changes.into_iter().map(Fault::Links).collect::<Vec<_>>();
        let link = |id: LinkId| {
            let is_a_hosts = !access.places_of(id).is_empty();
            is_a_hosts.then_some(id).ok_or_else(|| {
                wrong("only links of the job's own hosts are simulated", "name one of those, or leave it out")
            })
        };
        Ok(match step {
            Step::LinkDown(id) => {
                let id = link(id)?;
                changes(access.set_down(id, true))
            }
            Step::LinkUp(id) => {
                let id = link(id)?;
                changes(access.set_down(id, false))
            }
            Step::Slow(id, bps) => {
                let id = link(id)?;
                changes(access.set_rate(id, Some(bps as f64)))
            }
            Step::Fast(id) => {
                let id = link(id)?;
                changes(access.set_rate(id, None))
            }
            Step::InterfaceDown(host) | Step::InterfaceUp(host) => {
                let is_down = matches!(step, Step::InterfaceDown(_));
                let links: Vec<LinkId> = self.topology.neighbors(host).map(|(_, link)| link).collect();
                self.process(host).ok_or_else(|| wrong("not a host of the job", "name one of its hosts"))?;
                links.into_iter().flat_map(|id| changes(access.set_down(id, is_down))).collect()
            }
            Step::Kill(Victim::Host(host)) | Step::Start(Victim::Host(host)) | Step::Disconnect(host) => {
                let who = self.process(host);
                let who = who.ok_or_else(|| wrong("not a host of the job", "name one of its hosts"))?;
                let worker = who.index().checked_sub(1);
                match step {
                    Step::Disconnect(_) => vec![Fault::Disconnect(who)],
                    Step::Kill(_) => {
                        plan.gone.extend(worker);
                        vec![Fault::Kill(who)]
                    }
                    _ => {
                        match worker {
                            Some(worker) => drop(plan.gone.remove(&worker)),
                            None => plan.restarts = true,
                        }
                        vec![Fault::Start(who)]
                    }
                }
            }
            Step::Pause(_) | Step::Resume(_) => {
                return Err(wrong("processes do not stand still here", "write `crash` or `link_down`"));
            }
            Step::Kill(_) | Step::Start(_) | Step::Stale(..) | Step::Forge(..) => {
                return Err(wrong("switches and frames are not simulated here", "leave it out"));
            }
        })
    }

    /// Returns the process of a host: all servers of a job are one.
    fn process(&self, host: NodeId) -> Option<PeerNo> {
        let worker = self.participants.iter().position(|own| *own == host);
        worker.map(peer).or_else(|| self.servers.contains(&host).then_some(SERVER))
    }

    fn check_links(&self, schedule: &Schedule) -> Result<(), AgentError> {
        if schedule.links.as_flattened().iter().any(|link| link.duplicate.get() > 0.0) {
            return Err(AgentError::Fault {
                what: "links: duplicate".to_owned(),
                why: "connections drop duplicates",
                fix: "leave it out",
            });
        }
        if !schedule.flows.is_empty() {
            return Err(AgentError::Fault {
                what: "background".to_owned(),
                why: "other traffic is not simulated here",
                fix: "write `slow: [a, b]` with the `rate` that is left",
            });
        }
        Ok(())
    }

    /// Checks that the server restarts: no worker trains without one.
    fn check_server(&self, schedule: &Schedule) -> Result<(), AgentError> {
        let of_server = |(_, step): &&(Span, Step)| match step {
            Step::Kill(Victim::Host(host)) | Step::Start(Victim::Host(host)) => self.servers.contains(host),
            _ => false,
        };
        match schedule.steps.iter().rfind(of_server) {
            Some((_, step @ Step::Kill(_))) => Err(AgentError::Fault {
                what: step.describe(self.topology),
                why: "the server does not restart, and no worker trains without it",
                fix: "give its duration, like `duration: 3 s`",
            }),
            _ => Ok(()),
        }
    }
}
