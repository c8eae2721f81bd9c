//! What was seen of the network over an interval, by whoever can count there.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_topologies::switched::{LinkId, NodeId, Topology};

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkSeen {
    /// What frames of our jobs took of it, bit/s.
    pub ours_bps: f64,
    /// What everything else took, bit/s.
    pub others_bps: f64,
    /// Whether it carries what is sent; `None` where too little was sent to tell.
    pub is_up: Option<bool>,
}

impl LinkSeen {
    /// A direction that is up.
    pub fn up(ours_bps: f64, others_bps: f64) -> Self {
        LinkSeen { ours_bps, others_bps, is_up: Some(true) }
    }

    /// A direction that carries nothing any more.
    pub fn down() -> Self {
        LinkSeen { ours_bps: 0.0, others_bps: 0.0, is_up: Some(false) }
    }
}

/// One switch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchSeen {
    /// Whether it forwards.
    pub is_up: bool,
    /// Whether it adds up.
    pub aggregates: bool,
    /// c(v): what others use of what it can add up, bit/s.
    pub others_bps: f64,
}

impl SwitchSeen {
    /// A switch in order, of which nobody else uses the aggregation.
    pub fn up() -> Self {
        SwitchSeen { is_up: true, aggregates: true, others_bps: 0.0 }
    }
}

/// One host, in its own words.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostSeen {
    /// The part (0 to 1) of the frames it sent that it sent again.
    pub retransmitted: Option<f64>,
    /// The part (0 to 1) of the frames it received that had a congestion mark.
    pub marked: Option<f64>,
    /// How long frames wait on the way: the smoothed round trip less the shortest, to the server with the
    /// longest queue.
    pub queueing: Option<Duration>,
    /// The part of its plan's rate at which chunks were summed while it had some under way: 1 is all that the
    /// plan promises. Round trips make it less, too, where tensors are small.
    pub delivered: Option<f64>,
    /// Tensors that its program has started since the run began.
    pub started: Option<u64>,
    /// Of these, those whose sums it has.
    pub ended: Option<u64>,
}

/// What was seen of one network over an interval. What is not listed is not known, which is not the same as
/// nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// How long the interval was.
    pub interval: Duration,
    /// By position in [`Topology::links`]: from the first end to the second, and back.
    pub links: Vec<[Option<LinkSeen>; 2]>,
    /// By switch.
    pub switches: BTreeMap<NodeId, SwitchSeen>,
    /// By host.
    pub hosts: BTreeMap<NodeId, HostSeen>,
}

impl Observation {
    /// Nothing is known of the network over an interval.
    pub fn unknown(topology: &Topology, interval: Duration) -> Self {
        Observation {
            interval,
            links: vec![[None; 2]; topology.links().len()],
            switches: BTreeMap::new(),
            hosts: BTreeMap::new(),
        }
    }

    /// Notes one direction of a link: from its first end to its second, or `back`.
    pub fn see_link(&mut self, link: LinkId, back: bool, seen: LinkSeen) {
        if let Some(ends) = self.links.get_mut(link.index()) {
            ends[usize::from(back)] = Some(seen);
        }
    }

    /// Notes what goes from one node to a neighbour; nothing where no link joins them.
    pub fn see(&mut self, topology: &Topology, from: NodeId, to: NodeId, seen: LinkSeen) {
        if let Some(link) = topology.link_between(from, to) {
            self.see_link(link, topology.link(link).ends[0] != from, seen);
        }
    }
}
