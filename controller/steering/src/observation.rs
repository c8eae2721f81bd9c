//! Observations of a network over an interval.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_topologies::switched::{LinkId, NodeId, Topology};

/// Observation of one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkSeen {
    /// Traffic of our jobs, bit/s.
    pub ours_bps: f64,
    /// Other traffic, bit/s.
    pub others_bps: f64,
    /// Whether the direction carries frames; `None` where too little was sent.
    pub is_up: Option<bool>,
}

impl LinkSeen {
    /// Creates the observation of a healthy direction.
    pub fn up(ours_bps: f64, others_bps: f64) -> Self {
        LinkSeen { ours_bps, others_bps, is_up: Some(true) }
    }

    /// Creates the observation of a direction that carries nothing.
    pub fn down() -> Self {
        LinkSeen { ours_bps: 0.0, others_bps: 0.0, is_up: Some(false) }
    }
}

/// Observation of one switch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchSeen {
    /// Whether the switch forwards.
    pub is_up: bool,
    /// Whether the switch aggregates.
    pub aggregates: bool,
    /// c(v): background use of its aggregation capacity, bit/s.
    pub others_bps: f64,
}

impl SwitchSeen {
    /// Creates the observation of a healthy switch without background aggregation.
    pub fn up() -> Self {
        SwitchSeen { is_up: true, aggregates: true, others_bps: 0.0 }
    }
}

/// Report of one host.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostSeen {
    /// Retransmitted part (0 to 1) of the frames that it sent.
    pub retransmitted: Option<f64>,
    /// Part (0 to 1) of the frames that it received with a congestion mark.
    pub marked: Option<f64>,
    /// Queueing delay: the smoothed round trip minus the shortest one, to the server with the longest
    /// queue.
    pub queueing: Option<Duration>,
    /// Part of its plan's rate at which chunks were summed while some were in flight: 1 is the planned
    /// rate. Round trips reduce it where tensors are small.
    pub delivered: Option<f64>,
    /// Tensors that the program has started since the view began.
    pub started: Option<u64>,
    /// Tensors of these whose sums are complete.
    pub ended: Option<u64>,
}

/// Observations of a network over an interval. Missing entries are unknown, which is not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Length of the interval.
    pub interval: Duration,
    /// Observations by position in [`Topology::links`]: from the first end to the second, and back.
    pub links: Vec<[Option<LinkSeen>; 2]>,
    /// Observations by switch.
    pub switches: BTreeMap<NodeId, SwitchSeen>,
    /// Observations by host.
    pub hosts: BTreeMap<NodeId, HostSeen>,
}

impl Observation {
    /// Creates observations of which nothing is known yet.
    pub fn unknown(topology: &Topology, interval: Duration) -> Self {
        Observation {
            interval,
            links: vec![[None; 2]; topology.links().len()],
            switches: BTreeMap::new(),
            hosts: BTreeMap::new(),
        }
    }

    /// Records a direction of a link: from the first end to the second, or `back`.
    pub fn record_link(&mut self, link: LinkId, back: bool, seen: LinkSeen) {
        if let Some(ends) = self.links.get_mut(link.index()) {
            ends[usize::from(back)] = Some(seen);
        }
    }

    /// Records a direction of a link by its nodes; ignored where no link joins them.
    pub fn record(&mut self, topology: &Topology, from: NodeId, to: NodeId, seen: LinkSeen) {
        if let Some(link) = topology.link_between(from, to) {
            self.record_link(link, topology.link(link).ends[0] != from, seen);
        }
    }
}
