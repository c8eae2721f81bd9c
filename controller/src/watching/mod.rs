//! Observation of a network by its switches' counters. Pure: time and counters are arguments.
//!
//! A link is down when frames that one switch sends over it do not arrive at the other. A switch has failed
//! when it does not answer and no frame comes from it: a lost session alone does not mean that forwarding
//! has failed. The link of a host is down when frames reach the host and it sends none, although its process
//! is connected to the controller: a host whose process has ended is silent on a healthy link.

mod counted;
mod host_reports;
mod stragglers;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use inart_p4::Outcome;
use inart_steering::{LinkSeen, Observation, SwitchSeen};
use inart_targets::Traffic;
use inart_topologies::switched::{LinkId, NodeId, NodeKind, Topology};

use crate::ports::PortMap;
pub use host_reports::HostReports;
pub use stragglers::{Progress, Stragglers};

use counted::{Counted, frames_of, since};

/// Number of sent frames without an arrival after which a link counts as down: fewer may be lost one by
/// one.
const UNANSWERED: i64 = 4;
/// Number of frames to a silent host, and time of silence, after which the host counts as cut off: running
/// hosts send more often.
const TO_SILENT: i64 = 8;
const SILENT: Duration = Duration::from_secs(3);
/// Number of gradients for occupied slots, without any sum, after which the aggregation counts as failed.
const MISFITS: i64 = 8;

/// Counters of the switches of a network, by name; silent switches are missing.
pub type Answers = BTreeMap<String, Traffic>;

/// State of one direction of a link.
#[derive(Debug, Clone, Copy, Default)]
struct Direction {
    /// Frames sent since the last arrival.
    unanswered: i64,
    /// Time since the last arrival.
    silent: Duration,
}

/// Observes one network by its switches' counters.
#[derive(Debug)]
pub struct Watching {
    topology: Topology,
    ports: PortMap,
    /// Factor on the topology's rates for the real network.
    scale: f64,
    /// Last three reads, oldest first.
    answers: VecDeque<(Duration, Answers)>,
    directions: Vec<[Direction; 2]>,
}

impl Watching {
    /// Creates an observer without counters. `scale` is the factor on the topology's rates for the real
    /// network.
    pub fn new(topology: Topology, ports: PortMap, scale: f64) -> Self {
        let directions = vec![Default::default(); topology.links().len()];
        Watching { topology, ports, scale, answers: VecDeque::new(), directions }
    }

    /// Returns the observed ports of a switch.
    pub fn ports(&self, switch: &str) -> Vec<inart_tables::PortNo> {
        self.ports.ports(switch).map(|(port, _)| port).collect()
    }

    /// Computes an observation from the counters at `now`, in the topology's own rates; `None` before the
    /// second read. `connected` are the names of the hosts whose processes are connected to the controller.
    pub fn observe(
        &mut self,
        now: Duration,
        answers: Answers,
        connected: &BTreeSet<String>,
    ) -> Option<Observation> {
        self.answers.push_back((now, answers));
        while self.answers.len() > 3 {
            self.answers.pop_front();
        }
        let [.., (before, _), _] = self.answers.make_contiguous() else { return None };
        let interval = now.saturating_sub(*before);
        if interval.is_zero() {
            return None;
        }
        let mut seen = Observation::unknown(&self.topology, interval);
        let links: Vec<(LinkId, [NodeId; 2])> =
            self.topology.link_ids().zip(self.topology.links()).map(|(id, link)| (id, link.ends)).collect();
        for (id, [a, b]) in links {
            for (back, from, to) in [(false, a, b), (true, b, a)] {
                let is_connected = connected.contains(self.name(from));
                if let Some(link) = self.link(id, back, (from, to), (interval, is_connected)) {
                    seen.record_link(id, back, link);
                }
            }
        }
        for id in self.topology.node_ids().filter(|&id| self.kind(id) == NodeKind::Switch) {
            if let Some(switch) = self.switch(id) {
                seen.switches.insert(id, switch);
            }
        }
        Some(seen)
    }

    fn kind(&self, id: NodeId) -> NodeKind {
        self.topology.node(id).kind
    }

    fn name(&self, id: NodeId) -> &str {
        &self.topology.node(id).name
    }

    /// Returns the traffic of the port of `at` that leads to `peer`, in the last interval, or the one
    /// before (`back` 1); `None` for a host, or where the switch did not answer twice or lost its counters
    /// in between.
    fn counted(&self, at: NodeId, peer: NodeId, back: usize) -> Option<Counted> {
        let port = self.ports.port(self.name(at), self.name(peer))?;
        let newer = self.answers.len().checked_sub(1 + back)?;
        let of = |index: usize| self.answers.get(index)?.1.get(self.name(at))?.ports.get(&port).copied();
        since(of(newer.checked_sub(1)?)?, of(newer)?)
    }

    /// Observes one direction of a link; `is_connected` is whether the process of the host there is.
    fn link(
        &mut self,
        id: LinkId,
        back: bool,
        (from, to): (NodeId, NodeId),
        (interval, is_connected): (Duration, bool),
    ) -> Option<LinkSeen> {
        let (sent, arrived) = (self.counted(from, to, 0), self.counted(to, from, 0));
        // Frames sent before the last interval have had time to arrive, possibly before it.
        let none_came = self.counted(to, from, 1).is_some_and(|counted| counted.frames_in() == 0);
        let sent_before = self.counted(from, to, 1).filter(|_| none_came);
        let sent_before = sent_before.map_or(0, |counted| counted.frames_out());
        let of_both = self.kind(from) == NodeKind::Switch;
        let memory = &mut self.directions[id.index()][usize::from(back)];
        let came = arrived.map(|counted| counted.frames_in());
        let is_up = match came {
            Some(frames) if frames > 0 => {
                *memory = Direction::default();
                Some(true)
            }
            Some(_) if of_both => {
                memory.unanswered += sent_before;
                (memory.unanswered >= UNANSWERED).then_some(false)
            }
            // A silent host, by the frames sent to it.
            Some(_) if is_connected => {
                memory.unanswered += arrived.map_or(0, |counted| counted.frames_out());
                memory.silent += interval;
                (memory.unanswered >= TO_SILENT && memory.silent >= SILENT).then_some(false)
            }
            Some(_) | None => {
                *memory = Direction::default();
                None
            }
        };
        // The load of the link is what is sent; its carried traffic is what arrives.
        let (ours, others) = match (sent, arrived) {
            (Some(sent), _) => (sent.ours_out, sent.others_out),
            (None, Some(arrived)) => (arrived.ours_in, arrived.others_in),
            (None, None) => return None,
        };
        let bps = |bytes: i64| bytes as f64 * 8.0 / interval.as_secs_f64() / self.scale;
        Some(LinkSeen { ours_bps: bps(ours.bytes), others_bps: bps(others.bytes), is_up })
    }

    /// Observes one switch; `None` if it does not answer without a sign of failure.
    fn switch(&self, id: NodeId) -> Option<SwitchSeen> {
        let answered = |back: usize| {
            let at = self.answers.len().checked_sub(1 + back)?;
            self.answers.get(at)?.1.get(self.name(id))
        };
        if let (Some(now), Some(before)) = (answered(0), answered(1)) {
            let counted = |outcomes: &[Outcome]| frames_of(before, now, outcomes);
            let summed = counted(&[Outcome::SlotClaimed, Outcome::Added, Outcome::Completed]);
            let misfits = counted(&[Outcome::Stale, Outcome::FormatMismatch, Outcome::PartialOverlap]);
            return Some(SwitchSeen { aggregates: misfits < MISFITS || summed > 0, ..SwitchSeen::up() });
        }
        if answered(0).is_some() || answered(1).is_some() {
            return None;
        }
        let neighbors = self.topology.neighbors(id).filter(|&(peer, _)| self.kind(peer) == NodeKind::Switch);
        let came = neighbors.filter_map(|(peer, _)| Some(self.counted(peer, id, 0)?.frames_in()));
        let came: Vec<i64> = came.collect();
        let is_silent = !came.is_empty() && came.iter().all(|frames| *frames == 0);
        is_silent.then_some(SwitchSeen { is_up: false, ..SwitchSeen::up() })
    }
}
