//! The way of one worker's frames to one server, and the first place on it where something is wrong.

use std::collections::BTreeMap;
use std::fmt;

use inart_p4::Reason;
use inart_planner::Plan;
use inart_wire::{Epoch, JobId, Seat, ShardId};
use serde::Serialize;

use super::view::SwitchState;
use crate::ports::PortMap;
use crate::requirements::{PlanError, Roles};
use inart_tables::SteerKey;

/// Why a server lacks a worker's part of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum Obstacle {
    /// The worker's process does not answer.
    HostSilent {
        /// What was tried, and what came of it.
        why: String,
    },
    /// The worker has not begun the round: its program computes.
    NotBegun {
        /// Milliseconds since it was last in an all-reduce.
        ms: u64,
    },
    /// A switch on the way cannot be asked, or runs no program of ours.
    SwitchSilent {
        /// The switch.
        switch: String,
        /// What it said.
        why: String,
    },
    /// A switch drops the frames for lack of an entry.
    NoEntry {
        /// The switch.
        switch: String,
        /// By which they come in.
        port: u16,
        /// Who is behind that.
        from: String,
        /// Frames that it dropped for that reason while it was watched.
        dropped: i64,
    },
    /// Frames left one node and do not arrive at the next.
    NotArriving {
        /// The node before.
        from: String,
        /// The switch, or the server.
        to: String,
    },
    /// The frames arrive where they are summed; the sum waits for others.
    InSum {
        /// Where.
        switch: String,
    },
    /// The frames arrive at the last switch.
    Arriving {
        /// That switch.
        switch: String,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::HostSilent { why } => write!(f, "its process does not answer ({why}): stopped or gone"),
            Obstacle::NotBegun { ms } => {
                write!(f, "it has not begun the round: its program computes since {:.1} s", *ms as f64 / 1e3)
            }
            Obstacle::SwitchSilent { switch, why } => {
                write!(f, "switch {switch} is on its way and is not in order: {why}")
            }
            Obstacle::NoEntry { switch, port, from, dropped } => write!(
                f,
                "its frames reach {switch} from {from} on port {port} and are dropped there: {} ({dropped} just now); \
                 table steer has no entry for them",
                Reason::NoRoute
            ),
            Obstacle::NotArriving { from, to } => write!(
                f,
                "its frames leave {from} and do not arrive at {to}: the link {from}-{to} is down, or one end sends nothing"
            ),
            Obstacle::InSum { switch } => {
                write!(f, "its frames are in a sum at {switch}, which waits for others")
            }
            Obstacle::Arriving { switch } => {
                write!(f, "its frames pass {switch}, the last switch before the server")
            }
        }
    }
}

/// A job's plan as its frames meet it.
pub(super) struct Tracer<'a> {
    pub ports: &'a PortMap,
    pub roles: &'a Roles<'a>,
    pub plan: &'a Plan,
    pub job: JobId,
    pub epoch: Epoch,
    pub switches: &'a BTreeMap<String, SwitchState>,
}

/// A switch on the way.
struct Hop<'a> {
    switch: &'a str,
    from: &'a str,
    /// Workers whose frames carry this worker's part here: itself alone before it is summed.
    carriers: Vec<&'a str>,
    sums: bool,
}

impl Tracer<'_> {
    /// The first place where the frames of `worker` for `server` are stuck.
    ///
    /// # Errors
    /// A plan that does not fit the topology.
    pub fn trace(&self, worker: &str, server: &str) -> Result<Obstacle, PlanError> {
        let shard = self.roles.shard(server)?;
        let mut before: Option<(Hop<'_>, bool)> = None;
        for hop in self.way(worker, server) {
            let view = match self.switches.get(hop.switch) {
                Some(SwitchState::Ours(view)) => view,
                Some(SwitchState::Silent(why)) => {
                    return Ok(Obstacle::SwitchSilent { switch: hop.switch.into(), why: why.clone() });
                }
                None => {
                    return Ok(Obstacle::SwitchSilent { switch: hop.switch.into(), why: "not asked".into() });
                }
            };
            let Some(ingress) = self.ports.port(hop.switch, hop.from) else { break };
            let key =
                |seat: Seat| SteerKey { epoch: self.epoch, job: self.job, shard, worker: seat, ingress };
            let own = key(self.seat(shard, worker)?);
            if !view.after.steer.contains_key(&own) {
                return Ok(Obstacle::NoEntry {
                    switch: hop.switch.into(),
                    port: ingress.get(),
                    from: hop.from.into(),
                    dropped: view.after.drops(Reason::NoRoute).packets
                        - view.before.drops(Reason::NoRoute).packets,
                });
            }
            let mut arrives = false;
            for carrier in &hop.carriers {
                arrives |= view.hits(&key(self.seat(shard, carrier)?)) > 0;
            }
            if !arrives {
                let summed = before.filter(|(hop, _)| hop.sums);
                return Ok(match summed {
                    Some((hop, _)) => Obstacle::InSum { switch: hop.switch.into() },
                    None => Obstacle::NotArriving { from: hop.from.into(), to: hop.switch.into() },
                });
            }
            before = Some((hop, arrives));
        }
        Ok(match before {
            Some((hop, _)) if hop.sums => Obstacle::InSum { switch: hop.switch.into() },
            Some((hop, _)) => Obstacle::Arriving { switch: hop.switch.into() },
            None => Obstacle::NotArriving { from: worker.into(), to: server.into() },
        })
    }

    /// Who comes after `switch` on the way of `worker` to `server`.
    pub fn after(&self, switch: &str, worker: &str, server: &str) -> String {
        let hops = self.way(worker, server);
        let next = hops.iter().skip_while(|hop| hop.switch != switch).nth(1);
        next.map_or_else(|| server.to_owned(), |hop| hop.switch.to_owned())
    }

    fn seat(&self, shard: ShardId, worker: &str) -> Result<Seat, PlanError> {
        self.roles.seat(shard, worker)
    }

    /// The switches from a worker to a server: the flow's, then those of the trunks that carry it on.
    fn way<'p>(&'p self, worker: &'p str, server: &'p str) -> Vec<Hop<'p>> {
        let mut hops = Vec::new();
        let flow = self.plan.flows.iter().find(|flow| flow.worker == worker && flow.server == server);
        let Some(flow) = flow else { return hops };
        let (mut path, mut carriers) = (&flow.path, vec![worker]);
        // A trunk ends at the server, or at another aggregator; as many as there are trunks is enough.
        for _ in 0..=self.plan.trunks.len() {
            for pair in path.windows(2).filter(|pair| self.ports.is_switch(&pair[1])) {
                let sums = path.last() == Some(&pair[1]);
                hops.push(Hop { switch: &pair[1], from: &pair[0], carriers: carriers.clone(), sums });
            }
            let end = path.last().map_or("", String::as_str);
            let trunk =
                self.plan.trunks.iter().find(|trunk| trunk.aggregator == end && trunk.server == server);
            let Some(trunk) = trunk.filter(|_| end != server) else { break };
            path = &trunk.path;
            carriers = trunk.workers.iter().map(String::as_str).collect();
        }
        hops
    }
}
