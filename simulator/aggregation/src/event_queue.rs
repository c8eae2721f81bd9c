//! The event queue: events by time.

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

    /// Returns the channel from one node to its neighbor.
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

/// Notification of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Notification {
    /// The new plan version, which its server will migrate to.
    Prepare,
    /// Start of the coordinated migration, since all workers know the new plan version.
    Lead,
    /// Migration to the new plan version.
    Move,
    /// Migration back.
    Back,
    /// Closing of the old plan version.
    Close,
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A frame reaches the end of the channel it is on.
    Arrive(FrameId),
    /// Arrival of a recirculated frame at the switch of that node, by a port in the switch's own numbers.
    Recirculated(u32, u32, FrameId),
    /// A state machine's deadline.
    Wake(ProcessId),
    /// The next frame of a background flow.
    Background(u32),
    /// A step of the fault schedule.
    Step(u32),
    /// Restart of a job.
    Rerun(u32),
    /// Second arrival of a frame that a host sent in an earlier run.
    Late(ChannelId, FrameId),
    /// The plans change.
    Change,
    /// Notification of a process by the controller.
    Notification(ProcessId, Notification),
    /// An interval of the observer ends.
    Watch,
    /// Next frame of background traffic on a link.
    Inject(u32),
    /// Scheduled action of the daemon, or of a host of its jobs.
    Live(u32),
    /// The sum of all for some chunk of a larger job is back.
    Back(u32),
    /// Notification of a server that the larger job has ended.
    EndElsewhere(ProcessId),
    /// Query of the controller whether workers have migrated to a new plan version.
    Ask,
}

/// Scheduled events, by time in nanoseconds.
pub(crate) type EventQueue = Timeline<EventKind, u64>;
