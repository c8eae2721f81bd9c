//! Status of switches and hosts.

use std::collections::{BTreeMap, BTreeSet};

use inart_p4::Reason;
use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use inart_tables::{PortNo, SteerKey};
use inart_targets::{SwitchCounters, Traffic};
use inart_wire::JobId;

/// Switch that runs our program.
#[derive(Debug, Clone, Default)]
pub struct SwitchView {
    /// Counters of the first read.
    pub before: SwitchCounters,
    /// Counters of the second read, later than a worker's retransmission timeout.
    pub after: SwitchCounters,
    /// Frames that arrived on each port in between; empty if the switch does not count them.
    pub arrived: BTreeMap<PortNo, Arrived>,
}

/// Frames that arrived on a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrived {
    /// INART frames.
    pub ours: i64,
    /// Other frames.
    pub others: i64,
    /// Bytes of the other frames.
    pub others_bytes: i64,
}

impl Arrived {
    /// Returns the frames that arrived on each port between two reads.
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
    /// Returns the frames that hit an entry of `steer` in between.
    pub(super) fn hits(&self, key: &SteerKey) -> i64 {
        let packets =
            |counters: &SwitchCounters| counters.steer.get(key).map_or(0, |(_, counts)| counts.packets);
        packets(&self.after) - packets(&self.before)
    }

    /// Returns the frames that arrived on a port in between; `None` if the switch does not count them.
    pub(super) fn arrived(&self, port: PortNo) -> Option<Arrived> {
        self.arrived.get(&port).copied()
    }

    /// Returns ports with arriving INART frames that no entry of `steer` is for.
    pub(super) fn strays(&self) -> impl Iterator<Item = PortNo> {
        let is_hit =
            |port: PortNo| self.after.steer.keys().any(|key| key.ingress == port && self.hits(key) > 0);
        let came = self.arrived.iter().filter(|(_, arrived)| arrived.ours > 0);
        came.map(|(port, _)| *port).filter(move |port| !is_hit(*port))
    }

    /// Returns the frames dropped in between for a reason.
    pub(super) fn dropped(&self, reason: Reason) -> i64 {
        self.after.drops(reason).packets - self.before.drops(reason).packets
    }

    /// Returns the frames dropped in between because they arrived on a wrong port for their sender:
    /// gradients without an entry, and control frames, the only frames of a worker before the server has
    /// answered.
    pub(super) fn astray(&self) -> i64 {
        self.dropped(Reason::NoRoute) + self.dropped(Reason::UnauthorizedSender)
    }
}

/// State of a switch.
#[derive(Debug, Clone)]
pub enum SwitchState {
    /// Switch with our program.
    Ours(Box<SwitchView>),
    /// Unreachable switch, or one with another program; in words.
    Silent(String),
}

/// Status of the hosts. Ages are in seconds, and are added to the durations in the status.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Workers that answered, with the later of two answers.
    pub workers: Vec<(f64, WorkerStatus)>,
    /// Servers that answered, with the later of two answers.
    pub servers: Vec<(f64, ServerStatus)>,
    /// Shards whose server completed a chunk in between.
    pub moving: BTreeSet<(JobId, u16)>,
    /// Hosts that did not answer, by name, and the result of the attempt.
    pub silent: BTreeMap<String, String>,
    /// Hosts that answered and have not started.
    pub beginning: BTreeSet<String>,
    /// Hosts whose job appeared in the second answer only: the counters of the switches are older.
    pub started: BTreeSet<(JobId, String)>,
    /// Whether the interface of a host has a carrier, where the host reports it.
    pub carriers: BTreeMap<String, bool>,
    /// MTU of the interface of a host, in bytes without the Ethernet header, where the host reports it.
    pub mtus: BTreeMap<String, usize>,
    /// Shards whose server holds sums back, by job, and the hosts that it waits for.
    pub holding: BTreeMap<(JobId, u16), String>,
    /// Whether all running hosts were asked: a host in no list was not started.
    pub all_asked: bool,
}
