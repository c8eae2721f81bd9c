//! Membership of an elastic job: the rendezvous of its hosts, and start and end of its views. Pure: events
//! in, [orders](Order) out, and time is an argument (since any fixed moment).
//!
//! A *view* is the time between two rendezvous, with fixed members, shares and streams of chunks. A host
//! without a view, or whose view has ended, [joins](Membership::join) and waits. A view ends at a [stop
//! point](Ending) that all its workers agree on, or by an abort. Then the members rejoin, the job is
//! planned for the connected ones, and the next view starts.

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
pub use names::{MemberRole, Roster};
use phase::{Attendance, Contender, Phase};
pub use phase::{Formation, Order};
pub use status::{MemberState, MembershipStatus};
pub use timing::Timing;
use view::{Link, View};
pub use view::{Member, ViewMembership};

/// Rendezvous of one job.
#[derive(Clone, Debug)]
pub struct Membership {
    roster: Roster,
    timing: Timing,
    phase: Phase,
    /// Hosts that wait for a view, by name.
    present: BTreeMap<String, Attendance>,
    /// Other incarnations of connected hosts, by name.
    contenders: BTreeMap<String, Contender>,
    /// Number of times that a host has left, by name.
    leaves: BTreeMap<String, u64>,
    /// Rounds that an incarnation of a host has reported, by name.
    reported: BTreeMap<String, (Incarnation, u64)>,
    /// Current view, or the last one until its members have gathered.
    view: Option<View>,
    /// Workers of the previous view with their incarnations.
    before: Vec<(String, Incarnation)>,
    /// Why no view could be formed.
    problem: Option<String>,
    is_paused: bool,
    /// Whether the tables of a paused job were released.
    is_released: bool,
    /// Whether the view must end at a stop point without a new host.
    is_ending: bool,
    orders: Vec<Order>,
}

impl Membership {
    /// Creates a rendezvous without hosts and without a view.
    pub fn new(roster: Roster, timing: Timing) -> Self {
        Self {
            roster,
            timing,
            phase: Phase::Gathering { until: Duration::MAX },
            present: BTreeMap::new(),
            contenders: BTreeMap::new(),
            leaves: BTreeMap::new(),
            reported: BTreeMap::new(),
            view: None,
            before: Vec::new(),
            problem: None,
            is_paused: false,
            is_released: false,
            is_ending: false,
            orders: Vec::new(),
        }
    }

    /// Adopts a view that an earlier controller started, with these members. None of them is connected.
    pub fn adopt(&mut self, now: Duration, number: PlanVersion, members: Vec<Member>) {
        self.view = Some(View::adopted(now, number, members));
        self.phase = Phase::Running;
    }

    /// Returns the orders since the last call.
    pub fn orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Handles the passage of time.
    pub fn tick(&mut self, now: Duration) {
        self.advance(now);
    }

    /// Returns whether a host waits for a view.
    pub fn waits(&self, host: &str) -> bool {
        self.present.contains_key(host)
    }

    /// Returns the number of rounds of a finished job.
    pub fn finished(&self) -> Option<u64> {
        match self.phase {
            Phase::Finished { rounds } => Some(rounds),
            _ => None,
        }
    }

    /// Handles a member's new connection; the member gets the current instructions.
    pub fn connected(&mut self, now: Duration, host: &str, incarnation: Incarnation) {
        if let Some(member) = self.view.as_mut().and_then(|view| view.member_mut(host, incarnation)) {
            member.set_connected(Link::Connected);
        }
        self.advance(now);
    }

    /// Handles the end of a member's connection.
    pub fn disconnected(&mut self, now: Duration, host: &str, incarnation: Incarnation) {
        if let Some(member) = self.view.as_mut().and_then(|view| view.member_mut(host, incarnation)) {
            member.set_connected(Link::Lost(now));
        }
        self.advance(now);
    }

    /// Returns the number of times that a host has left. Join requests from before the last time are void.
    pub fn leaves(&self, host: &str) -> u64 {
        self.leaves.get(host).copied().unwrap_or_default()
    }

    /// Handles a host that leaves: `done` with all its rounds, or early. The job does not wait for it.
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

    /// Ends the view at a stop point without a new host: another plan waits.
    pub fn end_view(&mut self, now: Duration) {
        self.is_ending = self.view.is_some();
        self.advance(now);
    }

    /// Ends the view at a stop point; the next one starts after the job is [resumed](Self::resume).
    pub fn pause(&mut self, now: Duration) {
        self.is_paused = true;
        self.end_view(now);
    }

    /// Returns whether the tables of a paused job must be removed now, since it has no view any more: once
    /// per pause.
    pub fn should_release(&mut self) -> bool {
        let is_idle = self.is_paused && matches!(self.phase, Phase::Gathering { .. });
        is_idle && !std::mem::replace(&mut self.is_released, true)
    }

    /// Returns whether the tables of a paused job were released.
    pub fn is_released(&self) -> bool {
        self.is_released
    }

    /// Lets views start again.
    pub fn resume(&mut self, now: Duration) {
        (self.is_paused, self.is_released) = (false, false);
        self.advance(now);
    }

    fn send(&mut self, ending: Ending) {
        self.orders.push(Order::Announce(ending));
    }

    /// Advances as far as possible.
    fn advance(&mut self, now: Duration) {
        self.forget_silent(now);
        // Each step leads to a later phase, so the loop ends.
        while self.step(now) {}
    }

    /// Makes one step. Returns whether there was one.
    fn step(&mut self, now: Duration) -> bool {
        match &self.phase {
            Phase::Gathering { until } => self.gather(now, *until),
            Phase::Forming(_) | Phase::Finished { .. } => false,
            Phase::Running => self.run_on(now),
            Phase::Bounded(_) => self.agree(now),
            Phase::Leaving(_) => self.collect(now),
        }
    }

    /// Removes waiting hosts that have stopped asking.
    fn forget_silent(&mut self, now: Duration) {
        if matches!(self.phase, Phase::Forming(_)) {
            return;
        }
        let silent_after = self.timing.gone_after;
        self.present.retain(|_, there| now.saturating_sub(there.asked_at) < silent_after);
        self.contenders.retain(|_, contender| now.saturating_sub(contender.asked_at) < silent_after);
    }
}
