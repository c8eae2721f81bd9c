//! Who takes part in an elastic job, and when its runs begin and end: the rendezvous of its hosts. Pure:
//! events in, [orders](Order) out, and time is an argument (since any fixed moment).
//!
//! A *run* is what hosts do between two rendezvous: with the same members, shares and streams of chunks. A
//! host that has no run, or whose run has ended, [joins](Membership::join) and waits. A run ends at a
//! [boundary](Ending) that all its workers agree on, or because it was aborted. Then the members come back,
//! those who are there are planned for, and the next run begins.

mod boundary;
mod ends;
mod forming;
mod join;
mod names;
mod run;
mod status;
mod timing;

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::{Epoch, Incarnation};

use boundary::Boundary;
pub use inart_control::Ending;
pub use join::{Joining, Refusal, Reply};
pub use names::{Place, Roster};
use run::{Link, Run};
pub use run::{Member, Seat};
pub use status::{MemberState, MembershipStatus};
pub use timing::Timing;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The members of the run are told this about its end, in place of what they were told before.
    Tell(Ending),
    /// A run is to be planned and installed for these hosts. The outcome is told to
    /// [`Membership::formed`].
    Form(Formation),
}

/// For whom a run is to be planned, each kind in the order of the topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formation {
    /// The workers with their lives; a worker's rank is its place.
    pub workers: Vec<(String, Incarnation)>,
    /// The servers with their lives.
    pub servers: Vec<(String, Incarnation)>,
}

/// A host that waits for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attendance {
    life: Incarnation,
    rounds: u64,
    loading: bool,
    /// When it asked last.
    heard: Duration,
}

/// What the job is at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// There is no run: it begins when all hosts are there, or from that moment on when a worker and a server
    /// are.
    Gathering { until: Duration },
    /// A run is being planned and installed.
    Forming(Formation),
    /// A run goes on.
    Running,
    /// It goes on, and its workers agree where it ends.
    Bounded(Boundary),
    /// It has ended, and its members come back.
    Leaving(Leaving),
    /// All workers have done their last round.
    Finished { rounds: u64 },
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaving {
    /// When this step began.
    since: Duration,
    /// Whether a worker has left in the middle of a tensor.
    is_broken: bool,
    /// Whether all workers are there or given up, and the servers are waited for.
    servers: bool,
}

/// The rendezvous of one job.
#[derive(Clone, Debug)]
pub struct Membership {
    roster: Roster,
    timing: Timing,
    phase: Phase,
    /// By name: who waits for a run.
    present: BTreeMap<String, Attendance>,
    /// By name: another life of a host that is there, and when it asked first.
    contenders: BTreeMap<String, (Incarnation, Duration)>,
    /// By name: the rounds that a life of a host has told.
    told: BTreeMap<String, (Incarnation, u64)>,
    /// The present run, or the last one until its members are gathered.
    run: Option<Run>,
    /// The workers of the run before with their lives.
    before: Vec<(String, Incarnation)>,
    /// Why no run could be formed.
    problem: Option<String>,
    is_paused: bool,
    /// Whether the run is to end at a boundary, whoever joins.
    is_ending: bool,
    orders: Vec<Order>,
}

impl Membership {
    /// Nobody has joined, and there is no run.
    pub fn new(roster: Roster, timing: Timing) -> Self {
        Self {
            roster,
            timing,
            phase: Phase::Gathering { until: Duration::MAX },
            present: BTreeMap::new(),
            contenders: BTreeMap::new(),
            told: BTreeMap::new(),
            run: None,
            before: Vec::new(),
            problem: None,
            is_paused: false,
            is_ending: false,
            orders: Vec::new(),
        }
    }

    /// A run goes on that an earlier controller began: these are its members. None of them is connected.
    pub fn adopt(&mut self, now: Duration, number: Epoch, members: Vec<Member>) {
        self.run = Some(Run::adopted(now, number, members));
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

    /// A member has connected, and hears what the run's members are told.
    pub fn connected(&mut self, now: Duration, host: &str, life: Incarnation) {
        if let Some(member) = self.run.as_mut().and_then(|run| run.member_mut(host, life)) {
            member.link = Link::Connected;
        }
        self.advance(now);
    }

    /// A member's connection has ended.
    pub fn disconnected(&mut self, now: Duration, host: &str, life: Incarnation) {
        if let Some(member) = self.run.as_mut().and_then(|run| run.member_mut(host, life)) {
            member.link = Link::Lost(now);
        }
        self.advance(now);
    }

    /// A host takes part no more: it is `done` with all its rounds, or ends before that. What is not there is
    /// not waited for.
    pub fn leave(&mut self, now: Duration, host: &str, life: Incarnation, rounds: u64, done: bool) {
        if self.present.get(host).is_some_and(|there| there.life == life) {
            self.present.remove(host);
        }
        if let Some(member) = self.run.as_mut().and_then(|run| run.member_mut(host, life)) {
            member.link = if done { Link::Done(rounds) } else { Link::Gone };
        }
        self.advance(now);
    }

    /// The run is to end at a boundary, though nobody has joined: another plan waits for it.
    pub fn end_run(&mut self, now: Duration) {
        self.is_ending = self.run.is_some();
        self.advance(now);
    }

    /// The run ends at a boundary, and none begins until the job is [resumed](Self::resume).
    pub fn pause(&mut self, now: Duration) {
        self.is_paused = true;
        self.end_run(now);
    }

    /// Runs may begin again.
    pub fn resume(&mut self, now: Duration) {
        self.is_paused = false;
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
        self.contenders.retain(|_, (_, since)| now.saturating_sub(*since) < 3 * silent_after);
    }
}
