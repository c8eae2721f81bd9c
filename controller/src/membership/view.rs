//! A view and its members.

use std::time::Duration;

use inart_wire::{Incarnation, PlanVersion};

use super::names::Place;

/// How a member is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// It has not come since the view was formed.
    NotYet,
    /// It hears what it is told.
    Connected,
    /// Its connection ended then.
    Lost(Duration),
    /// It said that it ends.
    Gone,
    /// It has done all its rounds, so many.
    Done(u64),
}

/// A member of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub host: String,
    /// Its life.
    pub incarnation: Incarnation,
    /// What it is.
    pub place: Place,
    pub(super) link: Link,
    /// Whether it has left the view and joined again.
    pub(super) has_left: bool,
}

impl Member {
    /// A member that has not connected.
    pub fn new(host: String, incarnation: Incarnation, place: Place) -> Self {
        Self { host, incarnation, place, link: Link::NotYet, has_left: false }
    }

    /// Its connection begins or ends. That of a member that has said that it ends means nothing.
    pub(super) fn set_connected(&mut self, link: Link) {
        if !matches!(self.link, Link::Gone | Link::Done(_)) {
            self.link = link;
        }
    }

    /// Whether nothing more comes of it in its view: it has ended, or has had no connection for that long.
    pub(super) fn is_gone(&self, now: Duration, gone_after: Duration) -> bool {
        match self.link {
            Link::NotYet | Link::Connected => false,
            Link::Lost(at) => now >= at + gone_after,
            Link::Gone | Link::Done(_) => true,
        }
    }

    pub(super) fn is_worker(&self) -> bool {
        matches!(self.place, Place::Worker(_))
    }
}

/// What a host is told when its view begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewMembership {
    /// The view's number: the plan version by which it began.
    pub view: PlanVersion,
    /// What the host is.
    pub place: Place,
    /// The rank of a worker with the newest completed round.
    pub newest: usize,
    /// How many rounds that one has completed.
    pub rounds: u64,
    /// Whether workers load the state of that one before the next round: some worker is new, or has not
    /// completed as many rounds, or the list of workers differs from the view before.
    pub must_load_state: bool,
}

/// Members between two rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub number: PlanVersion,
    pub members: Vec<Member>,
    /// When it was formed.
    pub since: Duration,
    /// The newest worker, its rounds, and whether workers load its state; unknown of a view that was adopted.
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

    /// The rounds of the workers that have done all of theirs, if any has.
    pub fn done(&self) -> Option<u64> {
        let done = self.workers().filter_map(|worker| match worker.link {
            Link::Done(rounds) => Some(rounds),
            _ => None,
        });
        done.max()
    }

    /// The membership of a member.
    pub fn membership(&self, host: &str, incarnation: Incarnation) -> Option<ViewMembership> {
        let member = self.member(host).filter(|member| member.incarnation == incarnation)?;
        let (newest, rounds, must_load_state) = self.state?;
        Some(ViewMembership { view: self.number, place: member.place, newest, rounds, must_load_state })
    }
}
