//! The coordinator: tracks membership, measures ports by the reports of peers, chooses receivers and sends
//! them. Peers continue without it.

mod choosing;
mod copies;
mod known;
mod ports;
pub mod process;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use inart_planner_peers::{Gate, Multicast, Waits};
use inart_terms::{Agreement, Terms};
use inart_topologies::peers::Ports;
use inart_wire::{Incarnation, JobId, Rank};

use crate::counters::CoordinatorCounters;
use crate::message::{Body, Ended, Hello, OtherJob, Ready, Remaining, Roster, Seen, decode};
use crate::select::Selector;
use crate::setup::{Agreed, Sync};
use crate::term::Term;
use copies::Copy;
use known::{Known, PeerPhase};
use ports::Estimates;

/// Settings of a coordinator.
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinatorSetup {
    /// The job.
    pub job: JobId,
    /// Names that must agree everywhere, such as the job's and, by rank, the peers'.
    pub names: Vec<String>,
    /// Values of each peer's update, by rank.
    pub update_values: Vec<usize>,
    /// Values per chunk.
    pub chunk_values: usize,
    /// Bits of each peer's update on the wire, headers included, by rank.
    pub update_bits: Vec<f64>,
    /// Least number of receivers of an update.
    pub receivers: usize,
    /// Rule by which a peer starts its next round.
    pub sync: Sync,
    /// Fairness bound k.
    pub force_after: Option<u32>,
    /// Maker of the copies.
    pub multicast: Multicast,
    /// The last round.
    pub rounds: u32,
    /// Capacities of the ports, by rank.
    pub ports: Ports,
    /// Longest wait for all peers before the first round begins without the missing ones.
    pub gather: Duration,
    /// Random number that distinguishes coordinators.
    pub holder: u32,
}

impl CoordinatorSetup {
    /// Returns a fingerprint of the settings that peers and coordinator must agree on.
    pub fn fingerprint(&self) -> u64 {
        self.agreed().fingerprint()
    }

    /// Returns the settings that peers and coordinator must agree on, by name.
    pub fn terms(&self) -> Terms {
        self.agreed().terms()
    }

    fn agreed(&self) -> Agreed<'_> {
        let CoordinatorSetup { job, chunk_values, receivers, sync, force_after, multicast, rounds, .. } =
            *self;
        let (names, update_values) = (&self.names, &self.update_values);
        Agreed { job, names, update_values, chunk_values, receivers, sync, force_after, multicast, rounds }
    }
}

/// Action for the owner.
#[derive(Debug, Clone, PartialEq)]
pub enum CoordinatorOutput {
    /// Sends a message to a peer.
    Send {
        /// Receiver.
        to: Rank,
        /// Message.
        body: Body,
    },
    /// A peer has another job configuration; the coordinator refuses it and names the difference.
    OtherJob {
        /// Refused peer.
        peer: Rank,
    },
    /// No receivers could be chosen; peers send to their last ones.
    NotChosen {
        /// Reason, as the end of a sentence.
        why: String,
    },
    /// All peers that take part have ended the last round; the coordinator ends.
    Over,
    /// A newer coordinator is in charge; this one ends.
    Superseded {
        /// Term of the newer coordinator.
        by: Term,
    },
}

/// The state machine of a coordinator.
#[derive(Debug)]
pub struct Coordinator<S> {
    setup: CoordinatorSetup,
    selector: S,
    /// Own term, once in charge.
    term: Option<Term>,
    /// Highest term that peers have reported.
    highest: Term,
    is_superseded: bool,
    began: Option<Duration>,
    serial: u64,
    peers: Vec<Known>,
    gate: Gate,
    waits: Waits,
    estimates: Estimates,
    /// Copies of this round, where senders make them.
    copies: Vec<Copy>,
    /// Last round for which all peers have receivers.
    chosen_round: u32,
    /// Settings that peers must share.
    agreement: Agreement,
    /// All that took part have ended the last round.
    is_over: bool,
    counters: CoordinatorCounters,
    outputs: VecDeque<CoordinatorOutput>,
}

impl<S: Selector> Coordinator<S> {
    /// Creates a coordinator without connections.
    pub fn new(setup: CoordinatorSetup, selector: S) -> Self {
        let n = setup.update_values.len();
        let mut gate = Gate::new(n, Some(setup.sync.staleness().into()));
        (0..n).for_each(|peer| gate.leave(peer));
        Coordinator {
            selector,
            term: None,
            highest: Term::default(),
            is_superseded: false,
            began: None,
            serial: 0,
            peers: vec![Known::new(); n],
            gate,
            waits: Waits::none(n),
            estimates: Estimates::new(setup.ports.clone()),
            copies: Vec::new(),
            chosen_round: 0,
            agreement: Agreement::new(setup.terms()),
            is_over: false,
            counters: CoordinatorCounters::default(),
            outputs: VecDeque::new(),
            setup,
        }
    }

    /// Returns the next action; `None` until something happens.
    pub fn next_output(&mut self) -> Option<CoordinatorOutput> {
        self.outputs.pop_front()
    }

    /// Returns the term, once in charge.
    pub fn term(&self) -> Option<Term> {
        self.term
    }

    /// Returns the estimated port rates, by rank.
    pub fn ports(&self) -> &Ports {
        self.estimates.ports()
    }

    /// Returns whether a peer has ended the last round.
    pub fn has_finished(&self, peer: Rank) -> bool {
        peer.index() < self.peers.len() && self.gate.rounds(peer.index()) >= u64::from(self.setup.rounds)
    }

    /// Returns the counters.
    pub fn counters(&self) -> CoordinatorCounters {
        self.counters
    }

    /// Handles the end of a peer's connection.
    pub fn down(&mut self, peer: Rank, now: Duration) {
        if let Some(known) = self.peers.get_mut(peer.index()) {
            known.is_connected = false;
        }
        self.settle_presence(now);
    }

    /// Takes a message that arrived on a peer's connection. `now`: time since any fixed moment, the same for
    /// all calls.
    pub fn message(&mut self, from: Rank, data: Bytes, now: Duration) {
        if self.is_superseded {
            return;
        }
        let at = from.index();
        let body = decode(data);
        if at >= self.peers.len() {
            self.counters.malformed += 1;
            return;
        }
        match body {
            Ok(Body::Hello(hello)) => self.hello(from, &hello, now),
            Ok(Body::Ready(ready)) => self.ready(at, &ready, now),
            Ok(Body::Remaining(left)) => self.left(at, &left, now),
            Ok(Body::Ended(ended)) => self.ended(at, &ended, now),
            Ok(Body::Seen(seen)) => self.seen(at, &seen, now),
            Ok(Body::Refused(term)) => self.refused(term),
            _ => self.counters.malformed += 1,
        }
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Duration) {
        let began = *self.began.get_or_insert(now);
        let all = self.peers.iter().all(|known| known.incarnation != Incarnation::UNKNOWN);
        let some = self.peers.iter().filter(|known| known.incarnation != Incarnation::UNKNOWN).count() >= 2;
        if self.term.is_none() && !self.is_superseded && (all || some && now >= began + self.setup.gather) {
            self.take_charge(now);
        }
    }

    /// Returns when [`tick`](Self::tick) is due.
    pub fn wake_at(&self) -> Option<Duration> {
        match (self.term, self.began) {
            (None, began) if !self.is_superseded => {
                Some(began.map_or(Duration::ZERO, |at| at + self.setup.gather))
            }
            _ => None,
        }
    }

    fn take_charge(&mut self, now: Duration) {
        self.term = Some(Term { number: self.highest.number.saturating_add(1), holder: self.setup.holder });
        self.chosen_round = 0;
        self.send_rosters(now);
    }

    fn hello(&mut self, from: Rank, hello: &Hello, now: Duration) {
        let job = self.setup.fingerprint();
        if let Err(why) = self.admit(from, hello) {
            self.outputs.push_back(CoordinatorOutput::OtherJob { peer: from });
            self.send(from, Body::OtherJob(OtherJob { job, why }));
            return;
        }
        // Rounds beyond the last one do not exist.
        if hello.ended > self.setup.rounds {
            self.counters.malformed += 1;
            return;
        }
        let term = hello.term.unwrap_or_default();
        self.highest = self.highest.max(term);
        let (at, incarnation) = (from.index(), Incarnation::new(hello.incarnation));
        // A restarted peer starts where the slowest peers are.
        let ended = if hello.takes_part { hello.ended.into() } else { self.gate.least() };
        let is_new = self.peers[at].incarnation != incarnation;
        let known = &mut self.peers[at];
        known.is_connected = true;
        known.missed_by.clear();
        if is_new {
            *known = Known { incarnation, is_connected: true, ..Known::new() };
            known.phase = PeerPhase::Computing { since: now };
        }
        for (to, &rounds) in hello.waits.iter().enumerate() {
            self.waits.set(at, to, rounds);
        }
        match self.gate.has(at) && !is_new {
            true => self.gate.reach(at, ended),
            false => self.gate.join(at, ended),
        }
        match self.term {
            // Another coordinator has been in charge, or is; a refused one stops.
            Some(own) if term > own => self.take_charge(now),
            Some(_) if is_new => self.send_rosters(now),
            Some(_) => {
                self.send_roster(from);
                self.choose_if_due(now);
            }
            None => self.tick(now),
        }
    }

    /// Checks a peer's settings. Returns the first difference as an error.
    fn admit(&mut self, from: Rank, hello: &Hello) -> Result<(), String> {
        // The job's name is at index 0.
        let name = self.setup.names.get(from.index() + 1).cloned();
        let name = name.unwrap_or_else(|| format!("peer {from}"));
        let terms = Terms::from_message(hello.terms.clone()).map_err(|error| format!("{name}: {error}"))?;
        let mut agreement = self.agreement.clone();
        agreement.admit("the coordinator", &name, terms)?;
        if hello.job != self.setup.fingerprint()
            || hello.incarnation == 0
            || hello.waits.len() != self.peers.len()
        {
            return Err(format!("{name} has another job than the coordinator, or another version of InArt"));
        }
        self.agreement = agreement;
        Ok(())
    }

    /// Sends the roster to all peers.
    fn send_rosters(&mut self, now: Duration) {
        let connected = |at: &usize| self.peers[*at].is_connected;
        let ranks: Vec<Rank> =
            (0..self.peers.len()).filter(connected).filter_map(|at| Rank::try_from(at).ok()).collect();
        ranks.into_iter().for_each(|rank| self.send_roster(rank));
        self.choose_if_due(now);
    }

    fn send_roster(&mut self, to: Rank) {
        let roster = Roster {
            term: self.term,
            incarnations: self.peers.iter().map(|known| known.incarnation.get()).collect(),
            ended: (0..self.peers.len()).map(|at| self.gate.rounds(at) as u32).collect(),
        };
        self.send(to, Body::Roster(roster));
    }

    fn send(&mut self, to: Rank, body: Body) {
        self.outputs.push_back(CoordinatorOutput::Send { to, body });
    }

    fn left(&mut self, at: usize, left: &Remaining, now: Duration) {
        let bits = self.setup.update_bits[at];
        match &mut self.peers[at].phase {
            PeerPhase::Sending(sending)
                if sending.round == left.round && (0.0..=1.0).contains(&left.part) =>
            {
                (sending.left_bits, sending.at) = (left.part * bits, now);
            }
            _ => self.counters.late += 1,
        }
    }

    fn ended(&mut self, at: usize, ended: &Ended, now: Duration) {
        let is_late = ended.round > self.setup.rounds;
        if is_late || ended.complete.iter().any(|&to| to as usize >= self.peers.len()) {
            self.counters.malformed += 1;
            return;
        }
        if u64::from(ended.round) <= self.gate.rounds(at) {
            self.counters.late += 1;
            return;
        }
        self.copies_arrived(at, ended);
        self.gate.reach(at, ended.round.into());
        self.waits.ended(at, ended.complete.iter().map(|&to| to as usize));
        self.peers[at].phase = PeerPhase::Computing { since: now };
        if self.setup.sync != Sync::Bsp {
            self.share_out(&[], now);
        }
        self.choose_if_due(now);
        self.end_if_over();
    }

    /// Ends when all that take part have ended the last round.
    fn end_if_over(&mut self) {
        let mut present = (0..self.peers.len()).filter(|&at| self.gate.has(at)).peekable();
        let rounds = u64::from(self.setup.rounds);
        let is_over = present.peek().is_some() && present.all(|at| self.gate.rounds(at) >= rounds);
        if is_over && self.term.is_some() && !std::mem::replace(&mut self.is_over, true) {
            self.outputs.push_back(CoordinatorOutput::Over);
        }
    }

    /// Records the durations of a peer's copies in bulk synchronous rounds, which are planned together.
    fn copies_arrived(&mut self, from: usize, ended: &Ended) {
        let choice = self.peers[from].choice.as_ref().filter(|(round, ..)| *round == ended.round);
        let Some((_, _, rate_bps)) = choice.filter(|_| self.setup.sync == Sync::Bsp) else { return };
        let bits = self.setup.update_bits[from];
        let planned_s = bits / rate_bps;
        let fits = |seconds: &f64| *seconds > 0.0 && seconds.is_finite();
        let each = ended.complete.iter().zip(&ended.seconds).filter(|(_, seconds)| fits(seconds));
        self.copies.extend(each.map(|(&to, &seconds)| Copy {
            from,
            to: to as usize,
            bits,
            seconds,
            planned_s,
        }));
    }

    /// Learns from the copies of a round that all have ended. The estimate of a port without evidence, which
    /// was not full, moves a little towards its capacity; otherwise an avoided port would be avoided forever.
    fn learn_from_copies(&mut self) {
        let copies = std::mem::take(&mut self.copies);
        if copies.is_empty() {
            return;
        }
        self.estimates.forget_a_little();
        let believed = self.estimates.ports().clone();
        for (peer, sample) in copies::samples(&copies, &believed) {
            self.estimates.sample(peer, &sample);
        }
    }

    fn ready(&mut self, at: usize, ready: &Ready, now: Duration) {
        self.peers[at].computed(ready.computed_seconds);
        if u64::from(ready.round) != self.gate.rounds(at) + 1 {
            self.counters.late += 1;
            return;
        }
        // The last choice did not reach the peer.
        let choice = self.peers[at].choice.clone().filter(|(round, ..)| *round == ready.round);
        match choice {
            Some((round, to, rate_bps)) if !ready.has_choice => self.hand_out(at, round, to, rate_bps, now),
            Some(_) => {}
            None => {
                self.peers[at].phase = PeerPhase::Ready { round: ready.round };
                self.choose_for(at, now);
            }
        }
    }

    fn seen(&mut self, at: usize, seen: &Seen, now: Duration) {
        for sample in &seen.samples {
            let is_useful = self.estimates.sample(at, sample);
            self.counters.useless += u64::from(!is_useful);
        }
        for (peer, known) in self.peers.iter_mut().enumerate() {
            match seen.gone.contains(&(peer as u32)) {
                true => known.missed_by.insert(at),
                false => known.missed_by.remove(&at),
            };
        }
        self.settle_presence(now);
    }

    fn refused(&mut self, term: Term) {
        self.highest = self.highest.max(term);
        if self.term.is_some_and(|own| own < term) {
            self.is_superseded = true;
            self.outputs.push_back(CoordinatorOutput::Superseded { by: term });
        }
    }

    /// Determines the membership: a peer does not take part if its connection has ended and another peer has
    /// lost it, or if more than half of the others have lost it.
    fn settle_presence(&mut self, now: Duration) {
        let present: Vec<usize> = (0..self.peers.len()).filter(|&at| self.gate.has(at)).collect();
        for at in 0..self.peers.len() {
            let known = &self.peers[at];
            let misses = present.iter().filter(|other| known.missed_by.contains(other)).count();
            let is_missed = if known.is_connected { 2 * misses + 1 > present.len() } else { misses > 0 };
            match (self.gate.has(at), is_missed) {
                (true, true) => self.gate.leave(at),
                (false, false) if known.is_connected => {
                    let ended = self.gate.rounds(at);
                    self.gate.join(at, ended);
                }
                _ => {}
            }
        }
        self.choose_if_due(now);
        self.end_if_over();
    }
}
