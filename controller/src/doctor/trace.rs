//! Path of one worker's frames to one server, and the first place with a problem.

use std::collections::BTreeMap;
use std::fmt;

use inart_p4::Reason;
use inart_planner_aggregation::Plan;
use inart_wire::{BitmapIndex, JobId, PlanVersion, ShardId};
use serde::Serialize;

use super::view::{Arrived, SwitchState, SwitchView};
use crate::ports::PortMap;
use crate::requirements::{PlanError, Roles};
use inart_tables::{PortNo, SteerKey};
use inart_topologies::units::counted;

/// Why a server lacks a worker's part of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum StallCause {
    /// Silent process of the worker.
    HostSilent {
        /// Attempts, and their result.
        why: String,
    },
    /// Worker that has not started the round: its program computes.
    NotBegun {
        /// Milliseconds since its last all-reduce.
        ms: u64,
    },
    /// Switch on the path that is unreachable, or runs no program of ours.
    SwitchSilent {
        /// Name of the switch.
        switch: String,
        /// Error of the switch.
        why: String,
    },
    /// Switch that drops the frames for lack of an entry.
    NoEntry {
        /// Name of the switch.
        switch: String,
        /// Ingress port of the frames.
        port: u16,
        /// Node at that port.
        from: String,
        /// Frames that it dropped for that reason during the observation.
        dropped: i64,
    },
    /// Frames that leave one node and do not arrive at the next.
    NotArriving {
        /// Sending node.
        from: String,
        /// Receiving switch or server.
        to: String,
        /// Evidence of the link's state.
        #[serde(flatten)]
        link: LinkEvidence,
    },
    /// Frames without an entry on other ports than the planned one.
    Elsewhere {
        /// Name of the switch.
        switch: String,
        /// Planned ingress port of the frames.
        planned: u16,
        /// Node that should be at that port.
        from: String,
        /// Ports on which such frames arrive.
        on: Vec<u16>,
        /// Frames that were dropped for that reason during the observation.
        dropped: i64,
    },
    /// Worker without a status whose frames do not arrive.
    NotKnown {
        /// Switch at which its frames should arrive.
        switch: String,
    },
    /// Worker whose process runs but has not started.
    NotStarted,
    /// Worker that has started during the observation.
    JustStarted,
    /// Frames that arrive at their sum, which waits for others.
    InSum {
        /// Name of the switch.
        switch: String,
    },
    /// Frames that arrive at the last switch.
    Arriving {
        /// Name of that switch.
        switch: String,
    },
}

impl fmt::Display for StallCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StallCause::HostSilent { why } => {
                write!(f, "its process does not answer ({why}): stopped or dead")
            }
            StallCause::NotBegun { ms } => {
                write!(
                    f,
                    "has not started the round: its program has been computing for {:.1} s",
                    *ms as f64 / 1e3
                )
            }
            StallCause::SwitchSilent { switch, why } => {
                write!(f, "switch {switch} on its path is not available: {why}")
            }
            StallCause::NoEntry { switch, port, from, dropped } => write!(
                f,
                "its frames reach {switch} from {from} on port {port} and are dropped there: {} ({dropped} just now); \
                 table steer has no entry for them",
                Reason::NoRoute
            ),
            StallCause::NotArriving { from, to, link } => {
                write!(f, "its frames leave {from} and do not arrive at {to}: {}", link.of(from, to))
            }
            StallCause::Elsewhere { switch, planned, from, on, dropped } => {
                let on: Vec<_> = on.iter().map(u16::to_string).collect();
                write!(
                    f,
                    "none of its frames arrives on port {planned} of {switch}, where {from} is planned; \
                     frames that no entry \
                     is for arrive on port {} and are dropped ({dropped} just now): cables are swapped, or interfaces",
                    on.join(" and port ")
                )
            }
            StallCause::NotKnown { switch } => write!(
                f,
                "it has no status, and none of its frames arrives at {switch}: it was not started, or its status \
                 socket is not among those that were asked"
            ),
            StallCause::NotStarted => write!(f, "its process runs but has not started"),
            StallCause::JustStarted => write!(f, "it has just started"),
            StallCause::InSum { switch } => {
                write!(f, "its frames are in a sum at {switch}, which waits for others")
            }
            StallCause::Arriving { switch } => {
                write!(f, "its frames pass {switch}, the last switch before the server")
            }
        }
    }
}

/// Evidence of the state of a link without arriving frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LinkEvidence {
    /// Port of the switch at its end.
    pub port: Option<u16>,
    /// Whether the interface of the host at its start has a carrier.
    pub carrier: Option<bool>,
    /// INART frames that arrived over it during the observation.
    pub ours: i64,
    /// Other frames that arrived over it.
    pub others: i64,
    /// Bytes of the other frames.
    pub others_bytes: i64,
    /// Length of the job's frames in bytes.
    pub frame_bytes: Option<usize>,
    /// MTU of the interface of the host at its start, in bytes without the Ethernet header.
    pub mtu: Option<usize>,
}

/// Bytes of an Ethernet header, which an MTU does not include.
const HEADER_BYTES: usize = inart_wire::ETHERNET_BYTES;

impl LinkEvidence {
    /// Describes the evidence.
    fn of(&self, from: &str, to: &str) -> String {
        let port = self.port.map_or_else(String::new, |port| format!(" (port {port} of {to})"));
        let bytes = self.frame_bytes.map_or_else(String::new, |bytes| format!(" of {bytes} bytes"));
        let own = self.mtu.map_or_else(String::new, |mtu| {
            format!("; that of {from} is {mtu}, that of {to} is not known here")
        });
        let fits = format!("check that the MTU at both ends{port} has room for frames{bytes}{own}");
        match (self.carrier, self.others) {
            (Some(false), _) => {
                format!("the interface of {from} has no carrier, so the link {from}-{to} is down")
            }
            _ if self.is_own_mtu_small() => format!(
                "the MTU of {from} is {}, and frames{bytes} need {}; set it there",
                self.mtu.unwrap_or_default(),
                self.needed_mtu().unwrap_or_default()
            ),
            (_, others) if self.is_other_mtu_small() => format!(
                "{} (of {} bytes{}) arrived over the link {from}-{to} meanwhile, and no frame{bytes}: the MTU{port}, or of \
                 equipment between, is below {}; raise it{own}",
                counted(others, "short frame"),
                self.others_bytes / others,
                if others == 1 { "" } else { " on average" },
                self.needed_mtu().unwrap_or_default()
            ),
            (_, others) if others > 0 => {
                let frames = counted(others, "other frame");
                format!("the link {from}-{to} is up, since {frames} arrived over it: {fits}")
            }
            (Some(true), _) => format!("the interface of {from} has a carrier, so the link is up: {fits}"),
            (None, _) => format!("nothing shows whether the link {from}-{to} is up; if it is, {fits}"),
        }
    }
}

impl LinkEvidence {
    /// Returns the MTU that the job's frames need.
    fn needed_mtu(&self) -> Option<usize> {
        self.frame_bytes.map(|bytes| bytes.saturating_sub(HEADER_BYTES))
    }

    /// Returns whether the host at the start cannot send frames of the job's length.
    fn is_own_mtu_small(&self) -> bool {
        self.mtu.zip(self.needed_mtu()).is_some_and(|(mtu, needed)| mtu < needed)
    }

    /// Returns whether frames arrive, but none of the job's length, which the host can send: with one of
    /// these, the frames would have more bytes in total, as each has at least an Ethernet header.
    fn is_other_mtu_small(&self) -> bool {
        let (Some(frame_bytes), Some(_)) = (self.frame_bytes, self.mtu) else { return false };
        let with_one_long = frame_bytes as i64 + (self.others - 1) * HEADER_BYTES as i64;
        self.ours == 0 && self.others > 0 && self.others_bytes < with_one_long
    }
}

/// Plan of a job, along the path of its frames.
pub(super) struct Tracer<'a> {
    pub ports: &'a PortMap,
    pub roles: &'a Roles<'a>,
    pub plan: &'a Plan,
    pub job: JobId,
    pub plan_version: PlanVersion,
    pub switches: &'a BTreeMap<String, SwitchState>,
}

/// Switch on the path.
struct Hop<'a> {
    switch: &'a str,
    from: &'a str,
    /// Workers whose frames carry this worker's part here: only itself before it is summed.
    carriers: Vec<&'a str>,
    sums: bool,
}

impl Tracer<'_> {
    /// Returns the first place where the frames of `worker` for `server` stop.
    ///
    /// # Errors
    /// A plan that does not fit the topology.
    pub fn trace(&self, worker: &str, server: &str) -> Result<StallCause, PlanError> {
        let shard = self.roles.shard(server)?;
        let mut before: Option<(Hop<'_>, bool)> = None;
        for hop in self.way(worker, server) {
            let view = match self.switches.get(hop.switch) {
                Some(SwitchState::Ours(view)) => view,
                Some(SwitchState::Silent(why)) => {
                    return Ok(StallCause::SwitchSilent { switch: hop.switch.into(), why: why.clone() });
                }
                None => {
                    return Ok(StallCause::SwitchSilent {
                        switch: hop.switch.into(),
                        why: "not asked".into(),
                    });
                }
            };
            let Some(ingress) = self.ports.port(hop.switch, hop.from) else { break };
            let key = |bitmap_index: BitmapIndex| SteerKey {
                plan_version: self.plan_version,
                job: self.job,
                shard,
                worker: bitmap_index,
                ingress,
            };
            let own = key(self.bitmap_index(shard, worker)?);
            if !view.after.steer.contains_key(&own) {
                return Ok(StallCause::NoEntry {
                    switch: hop.switch.into(),
                    port: ingress.get(),
                    from: hop.from.into(),
                    dropped: view.dropped(Reason::NoRoute),
                });
            }
            let mut arrives = false;
            for carrier in &hop.carriers {
                arrives |= view.hits(&key(self.bitmap_index(shard, carrier)?)) > 0;
            }
            if !arrives {
                let summed = before.filter(|(hop, _)| hop.sums);
                return Ok(match summed {
                    Some((hop, _)) => StallCause::InSum { switch: hop.switch.into() },
                    None => self.absent(&hop, ingress, view),
                });
            }
            before = Some((hop, arrives));
        }
        Ok(match before {
            Some((hop, _)) if hop.sums => StallCause::InSum { switch: hop.switch.into() },
            Some((hop, _)) => StallCause::Arriving { switch: hop.switch.into() },
            None => StallCause::NotArriving {
                from: worker.into(),
                to: server.into(),
                link: LinkEvidence::default(),
            },
        })
    }

    /// Diagnoses a switch whose planned port for a worker gets no frames.
    fn absent(&self, hop: &Hop<'_>, ingress: PortNo, view: &SwitchView) -> StallCause {
        let arrived = view.arrived(ingress);
        // Switches and servers also send frames that `steer` does not handle: results and forwarded frames.
        let planned: BTreeMap<PortNo, &str> = self.ports.ports(hop.switch).collect();
        let may_be_here = |port: &PortNo| {
            planned
                .get(port)
                .is_none_or(|peer| !self.ports.is_switch(peer) && !self.roles.servers.contains(peer))
        };
        let strays = view.strays().filter(|port| *port != ingress && may_be_here(port));
        let on: Vec<u16> = strays.map(PortNo::get).collect();
        let (switch, from) = (hop.switch.to_owned(), hop.from.to_owned());
        if view.astray() > 0 && !on.is_empty() {
            return StallCause::Elsewhere {
                switch,
                planned: ingress.get(),
                from,
                on,
                dropped: view.astray(),
            };
        }
        let Arrived { ours, others, others_bytes } = arrived.unwrap_or_default();
        let port = Some(ingress.get());
        let link = LinkEvidence { port, ours, others, others_bytes, ..LinkEvidence::default() };
        StallCause::NotArriving { from, to: switch, link }
    }

    /// Returns the node after `switch` on the path of `worker` to `server`.
    pub fn after(&self, switch: &str, worker: &str, server: &str) -> String {
        let hops = self.way(worker, server);
        let next = hops.iter().skip_while(|hop| hop.switch != switch).nth(1);
        next.map_or_else(|| server.to_owned(), |hop| hop.switch.to_owned())
    }

    fn bitmap_index(&self, shard: ShardId, worker: &str) -> Result<BitmapIndex, PlanError> {
        self.roles.bitmap_index(shard, worker)
    }

    /// Returns the switches from a worker to a server: those of the flow, then those of the trunks.
    fn way<'p>(&'p self, worker: &'p str, server: &'p str) -> Vec<Hop<'p>> {
        let mut hops = Vec::new();
        let flow = self.plan.flows.iter().find(|flow| flow.worker == worker && flow.server == server);
        let Some(flow) = flow else { return hops };
        let (mut path, mut carriers) = (&flow.path, vec![worker]);
        // A trunk ends at the server, or at another aggregator, so the number of trunks bounds the steps.
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
