//! The event queue: what happens when.

use inart_topologies::switched::{LinkId, NodeId, Topology};
use inart_virtual::Timeline;

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
pub(crate) struct ProcessId(pub u32);

/// What a process is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tell {
    /// Of the new plan version, which its server will move to.
    Prepare,
    /// To move to the new plan version, since all workers know it.
    Lead,
    /// To move to the new plan version.
    Move,
    /// To move back.
    Back,
    /// That the old plan version is closed.
    Close,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A frame reaches the end of the channel it is on.
    Arrive(FrameId),
    /// A frame comes into the switch of that node once more, by that port of its own numbers.
    Recirculated(u32, u32, FrameId),
    /// A state machine's deadline.
    Wake(ProcessId),
    /// The next frame of a background flow.
    Background(u32),
    /// A step of the fault schedule.
    Step(u32),
    /// A job begins again.
    Rerun(u32),
    /// A frame that a host sent in an earlier run is on its way once more.
    Late(ChannelId, FrameId),
    /// The plans change.
    Change,
    /// The controller tells a process something.
    Tell(ProcessId, Tell),
    /// An interval of the observer ends.
    Watch,
    /// The next frame of other traffic on a link.
    Inject(u32),
    /// What the daemon, or a host of its jobs, has planned.
    Live(u32),
    /// The sum of all for some chunk of a larger job is back.
    Back(u32),
    /// The larger job has ended, and a server of a part is told.
    EndElsewhere(ProcessId),
    /// The controller asks whether workers have followed their servers to a new plan version.
    Ask,
}

/// The events to come, by time in nanoseconds.
pub(crate) type EventQueue = Timeline<EventKind, u64>;
