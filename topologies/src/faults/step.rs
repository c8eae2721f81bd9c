//! The steps of a fault schedule.

use crate::switched::{LinkId, NodeId};
use crate::units::counted;

use super::place::FaultNetwork;
use super::quantity::Span;

/// A process, or the processes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim<N = NodeId> {
    /// A switch: it loses its program, tables and registers.
    Switch(N),
    /// The controller; of a network of sites, the scheduler.
    Controller,
    /// All processes of a host.
    Host(N),
}

/// One step of a fault schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<N = NodeId, L = LinkId> {
    /// Ends a process without warning.
    Kill(Victim<N>),
    /// Starts it again, without its state.
    Start(Victim<N>),
    /// Halts all processes of a host; frames wait for it.
    Pause(N),
    /// Resumes the process.
    Resume(N),
    /// Takes a host's own interface down.
    InterfaceDown(N),
    /// Takes it up again.
    InterfaceUp(N),
    /// Takes a link down, in both directions.
    LinkDown(L),
    /// Takes it up again.
    LinkUp(L),
    /// Gives a link another rate, in bit/s, in both directions.
    Slow(L, u64),
    /// Gives a link its own rate back.
    Fast(L),
    /// Ends all connections of a host.
    Disconnect(N),
    /// Delivers again the last frames that a host sent, at most this number, as frames of the previous plan
    /// version.
    Stale(N, u32),
    /// Makes a host forge this number of frames of jobs that it does not belong to.
    Forge(N, u32),
}

/// A fault from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasting<N = NodeId, L = LinkId> {
    /// Position of the event in the document.
    pub event: usize,
    /// Time of the start, from the start of the run.
    pub at: Span,
    /// Time of the end; `None` if the fault is permanent or momentary.
    pub until: Option<Span>,
    /// Step at the start.
    pub first: Step<N, L>,
}

impl<N: Copy, L: Copy + PartialEq> Step<N, L> {
    /// Returns the step that ends the effect of this one.
    pub fn last(self) -> Option<Self> {
        Some(match self {
            Step::Kill(who) => Step::Start(who),
            Step::Pause(host) => Step::Resume(host),
            Step::InterfaceDown(host) => Step::InterfaceUp(host),
            Step::LinkDown(link) => Step::LinkUp(link),
            Step::Slow(link, _) => Step::Fast(link),
            _ => return None,
        })
    }

    /// Returns whether it ends a fault, rather than beginning one.
    pub fn ends_fault(self) -> bool {
        matches!(
            self,
            Step::Start(_) | Step::Resume(_) | Step::InterfaceUp(_) | Step::LinkUp(_) | Step::Fast(_)
        )
    }

    /// Returns the step as text, like `switch v1 killed`.
    pub fn describe<P: FaultNetwork<Node = N, Link = L>>(self, place: &P) -> String {
        let name = |node: N| place.node_name(node);
        let link = |link: L| {
            let found = place.links().into_iter().find(|own| own.id == link);
            found.map_or_else(String::new, |found| found.ends.map(name).join("-"))
        };
        let victim = |victim: Victim<N>| match victim {
            Victim::Switch(node) => format!("switch {}", name(node)),
            Victim::Controller => format!("the {}", P::CONTROLLER),
            Victim::Host(node) => format!("host {}", name(node)),
        };
        match self {
            Step::Kill(who) => format!("{} killed", victim(who)),
            Step::Start(who) => format!("{} started again", victim(who)),
            Step::Pause(host) => format!("host {} stopped", name(host)),
            Step::Resume(host) => format!("host {} resumed", name(host)),
            Step::InterfaceDown(host) => format!("interface of host {} down", name(host)),
            Step::InterfaceUp(host) => format!("interface of host {} up", name(host)),
            Step::LinkDown(id) => format!("link {} down", link(id)),
            Step::LinkUp(id) => format!("link {} up", link(id)),
            Step::Slow(id, bps) => format!("link {} at {bps} bit/s", link(id)),
            Step::Fast(id) => format!("link {} at its own rate", link(id)),
            Step::Disconnect(host) => format!("connections of host {} ended", name(host)),
            Step::Stale(host, count) => {
                format!("the last {count} of host {} again", name(host), count = counted(count, "frame"))
            }
            Step::Forge(host, count) => {
                format!("{count} of host {}", name(host), count = counted(count, "forged frame"))
            }
        }
    }
}
