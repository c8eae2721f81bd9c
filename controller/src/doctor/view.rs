//! What switches and hosts said.

use std::collections::{BTreeMap, BTreeSet};

use inart_p4::Reason;
use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use inart_tables::{PortNo, SteerKey};
use inart_targets::{SwitchCounters, Traffic};
use inart_wire::JobId;

/// A switch that runs our program.
#[derive(Debug, Clone, Default)]
pub struct SwitchView {
    /// Its counters when it was first looked at.
    pub before: SwitchCounters,
    /// And a moment later, longer than a worker waits before it retransmits a chunk.
    pub after: SwitchCounters,
    /// Frames that came in by each port in between; empty if the switch does not count them.
    pub arrived: BTreeMap<PortNo, Arrived>,
}

/// Frames that came in by a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Frames of INART.
    pub ours: i64,
    /// All other frames.
    pub others: i64,
    /// Bytes of those.
    pub others_bytes: i64,
}

impl Arrived {
    /// Returns the frames that came in by each port between two looks.
    pub fn between(before: &Traffic, after: &Traffic) -> BTreeMap<PortNo, Self> {
        let ports = after.ports.iter().filter_map(|(port, after)| {
            let before = before.ports.get(port)?;
            let ours = after.ours_in.packets - before.ours_in.packets;
            let others = after.others_in.packets - before.others_in.packets;
            let others_bytes = after.others_in.bytes - before.others_in.bytes;
            Some((*port, Self { ours, others, others_bytes }))
        });
        ports.collect()
    }
}

impl SwitchView {
    /// Frames that hit an entry of `steer` in between.
    pub(super) fn hits(&self, key: &SteerKey) -> i64 {
        let packets =
            |counters: &SwitchCounters| counters.steer.get(key).map_or(0, |(_, counts)| counts.packets);
        packets(&self.after) - packets(&self.before)
    }

    /// Frames that came in by a port in between; `None` if the switch does not count them.
    pub(super) fn arrived(&self, port: PortNo) -> Option<Arrived> {
        self.arrived.get(&port).copied()
    }

    /// Ports by which frames of INART came in that no entry of `steer` is for.
    pub(super) fn strays(&self) -> impl Iterator<Item = PortNo> {
        let is_hit =
            |port: PortNo| self.after.steer.keys().any(|key| key.ingress == port && self.hits(key) > 0);
        let came = self.arrived.iter().filter(|(_, arrived)| arrived.ours > 0);
        came.map(|(port, _)| *port).filter(move |port| !is_hit(*port))
    }

    /// Frames that were dropped in between for this reason.
    pub(super) fn dropped(&self, reason: Reason) -> i64 {
        self.after.drops(reason).packets - self.before.drops(reason).packets
    }

    /// Frames that were dropped in between because they came by a port that is not their sender's: gradients
    /// without an entry, and messages, which are all that a worker sends before the server has answered.
    pub(super) fn astray(&self) -> i64 {
        self.dropped(Reason::NoRoute) + self.dropped(Reason::UnauthorizedSender)
    }
}

/// What is known of a switch.
#[derive(Debug, Clone)]
pub enum SwitchState {
    /// It runs our program.
    Ours(Box<SwitchView>),
    /// It cannot be asked, or runs something else; in words.
    Silent(String),
}

/// What the hosts said. Ages are in seconds, and are added to the spans in the status.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Workers that answered, the later answer of two.
    pub workers: Vec<(f64, WorkerStatus)>,
    /// Servers that answered, the later answer of two.
    pub servers: Vec<(f64, ServerStatus)>,
    /// Shards whose server completed a chunk in between.
    pub moving: BTreeSet<(JobId, u16)>,
    /// Hosts that did not answer, by name, and what came of the attempt.
    pub silent: BTreeMap<String, String>,
    /// Hosts that answered and do nothing yet.
    pub beginning: BTreeSet<String>,
    /// Hosts that answered for a job at the second look only: what switches counted is older.
    pub started: BTreeSet<(JobId, String)>,
    /// Whether the interface of a host has a carrier, where the host says so.
    pub carriers: BTreeMap<String, bool>,
    /// MTU of the interface of a host, in bytes without the Ethernet header, where the host says so.
    pub mtus: BTreeMap<String, usize>,
    /// Shards whose server holds sums back until others have come, by job, and for whom it waits.
    pub holding: BTreeMap<(JobId, u16), String>,
    /// Whether all hosts that run were asked: a host that is in no list was not started.
    pub all_asked: bool,
}
