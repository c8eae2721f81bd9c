//! What happens when: the event queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use inart_planner::{LinkId, NodeId, Topology};

/// Index of a directed link: two per link of the topology, `2 * link` from its first end to its second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChannelId(pub u32);

impl ChannelId {
    /// Both directions of a link: from its first end to its second, then back.
    pub fn of_link(link: LinkId) -> [Self; 2] {
        [0, 1].map(|end| Self(2 * link.index() as u32 + end))
    }

    /// From one node to its neighbour.
    pub fn between(topology: &Topology, from: NodeId, to: NodeId) -> Option<Self> {
        let link = topology.link_between(from, to)?;
        Some(Self::of_link(link)[usize::from(topology.link(link).ends[0] != from)])
    }
}

/// Index of a frame in the [`Pool`](crate::pool::Pool).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FrameId(pub u32);

/// Index of a state machine: a worker or a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MachineId(pub u32);

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// A frame reaches the end of the channel it is on.
    Arrive(FrameId),
    /// A state machine's deadline.
    Wake(MachineId),
    /// The next frame of a background flow.
    Background(u32),
    /// A step of the fault schedule.
    Step(u32),
    /// A job begins again.
    Rerun(u32),
    /// A frame that a host sent in an earlier run is on its way once more.
    Late(ChannelId, FrameId),
}

/// Something that happens at a time, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    /// What was planned first happens first.
    order: u64,
    what: What,
}

/// The events to come.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<Event>>,
    order: u64,
}

impl Agenda {
    pub fn plan(&mut self, at: u64, what: What) {
        self.order += 1;
        self.heap.push(Reverse(Event { at, order: self.order, what }));
    }

    pub fn next(&mut self) -> Option<(u64, What)> {
        self.heap.pop().map(|Reverse(event)| (event.at, event.what))
    }
}
