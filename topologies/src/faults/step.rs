//! The steps of a fault schedule.

use crate::switched::{LinkId, NodeId, Topology};

/// A process, or the processes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// A switch: it loses its program, tables and registers.
    Switch(NodeId),
    /// The controller.
    Controller,
    /// All processes of a host.
    Host(NodeId),
}

/// One step of a fault schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ends a process without warning.
    Kill(Victim),
    /// Starts it again, without its state.
    Start(Victim),
    /// Halts all processes of a host; frames wait for it.
    Pause(NodeId),
    /// Lets them go on.
    Resume(NodeId),
    /// Takes a host's own interface down.
    InterfaceDown(NodeId),
    /// Takes it up again.
    InterfaceUp(NodeId),
    /// Takes a link down, in both directions.
    LinkDown(LinkId),
    /// Takes it up again.
    LinkUp(LinkId),
    /// Gives a link another rate, in bit/s, in both directions.
    Slow(LinkId, u64),
    /// Gives a link its own rate back.
    Fast(LinkId),
    /// Ends all connections of a host.
    Disconnect(NodeId),
    /// Delivers again the last frames that a host sent, so many at most, as frames of the epoch before.
    Stale(NodeId, u32),
    /// Makes a host forge so many frames of jobs that it does not belong to.
    Forge(NodeId, u32),
}

impl Step {
    /// Whether it ends a fault, rather than beginning one.
    pub fn ends_fault(self) -> bool {
        matches!(
            self,
            Step::Start(_) | Step::Resume(_) | Step::InterfaceUp(_) | Step::LinkUp(_) | Step::Fast(_)
        )
    }

    /// The step as text, like `switch v1 killed`.
    pub fn describe(self, topology: &Topology) -> String {
        let name = |node: NodeId| topology.node(node).name.as_str();
        let link = |link: LinkId| topology.link(link).ends.map(name).join("-");
        let victim = |victim: Victim| match victim {
            Victim::Switch(node) => format!("switch {}", name(node)),
            Victim::Controller => "the controller".to_owned(),
            Victim::Host(node) => format!("host {}", name(node)),
        };
        match self {
            Step::Kill(who) => format!("{} killed", victim(who)),
            Step::Start(who) => format!("{} started again", victim(who)),
            Step::Pause(host) => format!("host {} stopped", name(host)),
            Step::Resume(host) => format!("host {} goes on", name(host)),
            Step::InterfaceDown(host) => format!("interface of host {} down", name(host)),
            Step::InterfaceUp(host) => format!("interface of host {} up", name(host)),
            Step::LinkDown(id) => format!("link {} down", link(id)),
            Step::LinkUp(id) => format!("link {} up", link(id)),
            Step::Slow(id, bps) => format!("link {} at {bps} bit/s", link(id)),
            Step::Fast(id) => format!("link {} at its own rate", link(id)),
            Step::Disconnect(host) => format!("connections of host {} ended", name(host)),
            Step::Stale(host, count) => format!("the last {count} frames of host {} again", name(host)),
            Step::Forge(host, count) => format!("{count} forged frames of host {}", name(host)),
        }
    }
}
