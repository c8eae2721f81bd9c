//! Views and their members.

use std::time::Duration;

use inart_wire::{Incarnation, PlanVersion};

use super::names::MemberRole;

/// Connection state of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Not connected since the view was formed.
    NotYet,
    /// Connected.
    Connected,
    /// Disconnected since that time.
    Lost(Duration),
    /// Left early.
    Gone,
    /// Done with that number of rounds.
    Done(u64),
}

/// Member of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name of the host.
    pub host: String,
    /// Incarnation of the host.
    pub incarnation: Incarnation,
    /// Role.
    pub place: MemberRole,
    pub(super) link: Link,
    /// Whether the member has left the view and joined again.
    pub(super) has_left: bool,
}

impl Member {
    /// Creates a member that has not connected.
    pub fn new(host: String, incarnation: Incarnation, place: MemberRole) -> Self {
        Self { host, incarnation, place, link: Link::NotYet, has_left: false }
    }

    /// Sets the connection state. The connection of a member that has left does not matter.
    pub(super) fn set_connected(&mut self, link: Link) {
        if !matches!(self.link, Link::Gone | Link::Done(_)) {
            self.link = link;
        }
    }

    /// Returns whether the member is out of its view: it has left, or was disconnected for `gone_after`.
    pub(super) fn is_gone(&self, now: Duration, gone_after: Duration) -> bool {
        match self.link {
            Link::NotYet | Link::Connected => false,
            Link::Lost(at) => now >= at + gone_after,
            Link::Gone | Link::Done(_) => true,
        }
    }

    pub(super) fn is_worker(&self) -> bool {
        matches!(self.place, MemberRole::Worker(_))
    }
}

/// Membership of a host in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewMembership {
    /// Number of the view: the plan version at its start.
    pub view: PlanVersion,
    /// Role of the host.
    pub place: MemberRole,
    /// Rank of a worker with the newest completed round.
    pub newest: usize,
    /// Number of rounds that this worker has completed.
    pub rounds: u64,
    /// Whether workers load the state of that worker before the next round, because a worker is new or
    /// lacks a round, or because the list of workers differs from the previous view.
    pub must_load_state: bool,
}

/// Members between two rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub number: PlanVersion,
    pub members: Vec<Member>,
    /// Time of its formation.
    pub since: Duration,
    /// Newest worker, its rounds, and whether workers load its state; unknown for an adopted view.
    pub state: Option<(usize, u64, bool)>,
}

impl View {
    pub fn adopted(now: Duration, number: PlanVersion, mut members: Vec<Member>) -> Self {
        members.iter_mut().for_each(|member| member.link = Link::Lost(now));
        Self { number, members, since: now, state: None }
    }

    pub fn member(&self, host: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.host == host)
    }

    pub fn member_mut(&mut self, host: &str, incarnation: Incarnation) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.host == host && member.incarnation == incarnation)
    }

    pub fn workers(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.is_worker())
    }

    /// Returns the number of rounds of workers that are done, if any is.
    pub fn done(&self) -> Option<u64> {
        let done = self.workers().filter_map(|worker| match worker.link {
            Link::Done(rounds) => Some(rounds),
            _ => None,
        });
        done.max()
    }

    /// Returns the membership of a member.
    pub fn membership(&self, host: &str, incarnation: Incarnation) -> Option<ViewMembership> {
        let member = self.member(host).filter(|member| member.incarnation == incarnation)?;
        let (newest, rounds, must_load_state) = self.state?;
        Some(ViewMembership { view: self.number, place: member.place, newest, rounds, must_load_state })
    }
}
