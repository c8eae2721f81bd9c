//! Who takes part in an elastic job, and when its views begin and end: the rendezvous of its hosts. Pure:
//! events in, [orders](Order) out, and time is an argument (since any fixed moment).
//!
//! A *view* is what hosts do between two rendezvous: with the same members, shares and streams of chunks. A
//! host that has no view, or whose view has ended, [joins](Membership::join) and waits. A view ends at a
//! [stop_point](Ending) that all its workers agree on, or because it was aborted. Then the members come back,
//! those who are there are planned for, and the next view begins.

mod agree;
mod describe;
mod ends;
mod forming;
mod join;
mod joining;
mod names;
mod phase;
mod status;
mod stop_point;
mod timing;
mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::{Incarnation, PlanVersion};

pub use inart_controller_api::Ending;
pub use joining::{Joining, Refusal, Reply};
pub use names::{Place, Roster};
use phase::{Attendance, Contender, Phase};
pub use phase::{Formation, Order};
pub use status::{MemberState, MembershipStatus};
pub use timing::Timing;
use view::{Link, View};
pub use view::{Member, ViewMembership};

/// The rendezvous of one job.
#[derive(Clone, Debug)]
pub struct Membership {
    roster: Roster,
    timing: Timing,
    phase: Phase,
    /// By name: who waits for a view.
    present: BTreeMap<String, Attendance>,
    /// By name: another incarnation of a host that is there.
    contenders: BTreeMap<String, Contender>,
    /// By name: how often a host has left.
    leaves: BTreeMap<String, u64>,
    /// By name: the rounds that an incarnation of a host has told.
    told: BTreeMap<String, (Incarnation, u64)>,
    /// The present view, or the last one until its members are gathered.
    view: Option<View>,
    /// The workers of the view before with their incarnations.
    before: Vec<(String, Incarnation)>,
    /// Why no view could be formed.
    problem: Option<String>,
    is_paused: bool,
    /// Whether a paused job's tables were given back.
    is_released: bool,
    /// Whether the view is to end at a stop point, whoever joins.
    is_ending: bool,
    orders: Vec<Order>,
}

impl Membership {
    /// Nobody has joined, and there is no view.
    pub fn new(roster: Roster, timing: Timing) -> Self {
        Self {
            roster,
            timing,
            phase: Phase::Gathering { until: Duration::MAX },
            present: BTreeMap::new(),
            contenders: BTreeMap::new(),
            leaves: BTreeMap::new(),
            told: BTreeMap::new(),
            view: None,
            before: Vec::new(),
            problem: None,
            is_paused: false,
            is_released: false,
            is_ending: false,
            orders: Vec::new(),
        }
    }

    /// A view goes on that an earlier controller began: these are its members. None of them is connected.
    pub fn adopt(&mut self, now: Duration, number: PlanVersion, members: Vec<Member>) {
        self.view = Some(View::adopted(now, number, members));
        self.phase = Phase::Running;
    }

    /// What is to be done since the last call.
    pub fn orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) {
        self.advance(now);
    }

    /// Whether a host waits for a view.
    pub fn waits(&self, host: &str) -> bool {
        self.present.contains_key(host)
    }

    /// The rounds of a job that is done.
    pub fn finished(&self) -> Option<u64> {
        match self.phase {
            Phase::Finished { rounds } => Some(rounds),
            _ => None,
        }
    }

    /// A member has connected, and hears what the view's members are told.
    pub fn connected(&mut self, now: Duration, host: &str, incarnation: Incarnation) {
        if let Some(member) = self.view.as_mut().and_then(|view| view.member_mut(host, incarnation)) {
            member.set_connected(Link::Connected);
        }
        self.advance(now);
    }

    /// A member's connection has ended.
    pub fn disconnected(&mut self, now: Duration, host: &str, incarnation: Incarnation) {
        if let Some(member) = self.view.as_mut().and_then(|view| view.member_mut(host, incarnation)) {
            member.set_connected(Link::Lost(now));
        }
        self.advance(now);
    }

    /// Returns how often a host has left. A request to join that is older than the last time is void.
    pub fn leaves(&self, host: &str) -> u64 {
        self.leaves.get(host).copied().unwrap_or_default()
    }

    /// A host takes part no more: it is `done` with all its rounds, or ends before that. What is not there is
    /// not waited for.
    pub fn leave(&mut self, now: Duration, host: &str, incarnation: Incarnation, rounds: u64, done: bool) {
        if self.present.get(host).is_some_and(|there| there.incarnation == incarnation) {
            self.present.remove(host);
        }
        self.forget_contender(host, incarnation);
        if self.roster.hosts().any(|known| known == host) {
            *self.leaves.entry(host.to_owned()).or_default() += 1;
        }
        if let Some(member) = self.view.as_mut().and_then(|view| view.member_mut(host, incarnation)) {
            member.link = if done { Link::Done(rounds) } else { Link::Gone };
        }
        self.advance(now);
    }

    /// The view is to end at a stop point, though nobody has joined: another plan waits for it.
    pub fn end_run(&mut self, now: Duration) {
        self.is_ending = self.view.is_some();
        self.advance(now);
    }

    /// The view ends at a stop point, and none begins until the job is [resumed](Self::resume).
    pub fn pause(&mut self, now: Duration) {
        self.is_paused = true;
        self.end_run(now);
    }

    /// Whether the tables of a paused job are to be taken off the switches now, since nobody is in a view any
    /// more: once per pause.
    pub fn gives_back(&mut self) -> bool {
        let is_idle = self.is_paused && matches!(self.phase, Phase::Gathering { .. });
        is_idle && !std::mem::replace(&mut self.is_released, true)
    }

    /// Whether they were.
    pub fn is_released(&self) -> bool {
        self.is_released
    }

    /// Runs may begin again.
    pub fn resume(&mut self, now: Duration) {
        (self.is_paused, self.is_released) = (false, false);
        self.advance(now);
    }

    fn tell(&mut self, ending: Ending) {
        self.orders.push(Order::Tell(ending));
    }

    /// Does what can be done by now.
    fn advance(&mut self, now: Duration) {
        self.forget_silent(now);
        // Each step leads to a later phase, so this ends.
        while self.step(now) {}
    }

    /// One step; whether there was one.
    fn step(&mut self, now: Duration) -> bool {
        match &self.phase {
            Phase::Gathering { until } => self.gather(now, *until),
            Phase::Forming(_) | Phase::Finished { .. } => false,
            Phase::Running => self.run_on(now),
            Phase::Bounded(_) => self.agree(now),
            Phase::Leaving(_) => self.come_back(now),
        }
    }

    /// Hosts that have asked before and do so no more are gone.
    fn forget_silent(&mut self, now: Duration) {
        if matches!(self.phase, Phase::Forming(_)) {
            return;
        }
        let silent_after = self.timing.gone_after;
        self.present.retain(|_, there| now.saturating_sub(there.heard) < silent_after);
        self.contenders.retain(|_, contender| now.saturating_sub(contender.heard) < silent_after);
    }
}
