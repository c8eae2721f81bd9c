//! One peer: computes, sends its update to the chosen receivers, waits, averages.

mod arrivals;
mod awaited;
mod choosing;
mod liveness;
mod meeting;
mod newcomer;
mod output;
mod presence;
mod restarting;
mod rounds;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use inart_planner_peers::{Gate, Waits};
use inart_protocol_peers::{
    Cut, Members, Receiver, ReceiverCounters, ReceiverOutput, Receivers, Sender, SenderCounters,
    SenderOutput, Transmission,
};
use inart_wire::{Incarnation, Rank};
use thiserror::Error;

use crate::average::{Received, is_finite};
use crate::counters::PeerCounters;
use crate::message::{Body, Choice, Hello, Ready, Remaining, Seen, encode};
use crate::meter::Meter;
use crate::setup::{Setup, SetupError};
use crate::term::Term;
pub use awaited::Awaited;
use liveness::Liveness;
use newcomer::Newcomer;
pub use output::{Output, Start};

/// Interval of reports of the remaining bits.
const LEFT_EVERY: Duration = Duration::from_millis(200);
/// Interval of reports of measurements.
const SEEN_EVERY: Duration = Duration::from_millis(500);

/// Most incomplete updates that are listed at the start of a round.
const MOST_LACKING: usize = 1024;

/// Phase of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The members are unknown.
    Meeting,
    /// No coordinator has admitted the peer; it takes no part.
    Outside,
    /// The training program computes.
    Computing { since: Duration },
    /// An update waits for its receivers.
    Choosing { since: Duration },
    /// A multicast is active.
    Sending,
    /// Others must catch up first.
    Waiting,
    /// The last round has ended.
    Finished,
}

/// Reason for which an update is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum UpdateError {
    /// No update was requested.
    #[error("peer {rank} is not computing: send an update after each output that asks for one")]
    NotAsked {
        /// The peer.
        rank: Rank,
    },
    /// Wrong number of values.
    #[error("the update of peer {rank} has {values} values, its job has {expected}")]
    Length {
        /// The peer.
        rank: Rank,
        /// Given number of values.
        values: usize,
        /// Expected number of values.
        expected: usize,
    },
    /// A NaN or an infinity.
    #[error(
        "value {at} of the update of peer {rank} in round {round} is {value}; no other peer could use it"
    )]
    NotFinite {
        /// The peer.
        rank: Rank,
        /// Round of the update.
        round: u32,
        /// Index of the value.
        at: usize,
        /// Value.
        value: f32,
    },
}

/// State machine of one peer.
#[derive(Debug)]
pub struct Peer {
    setup: Arc<Setup>,
    cut: Cut,
    members: Members,
    sender: Sender,
    receiver: Receiver,
    gate: Gate,
    waits: Waits,
    phase: Phase,
    /// Start of the wait for admission.
    meeting_since: Option<Duration>,
    /// Rounds that all have ended, and the start of the wait for the next one.
    waiting_since: Option<(u64, Duration)>,
    /// Rounds that the peer has ended.
    ended: u32,
    /// Update of the current round.
    model: Vec<f32>,
    words: Arc<[u32]>,
    /// Complete updates that are not averaged yet.
    inbox: BTreeMap<(Rank, u32), Received>,
    lacking: Vec<(Rank, u32)>,
    liveness: Liveness,
    /// State of a peer that restarted behind the first round and has no model of the others yet.
    newcomer: Option<Newcomer>,
    term: Term,
    /// Newest choice.
    choice: Option<Choice>,
    /// Serial number of the newest choice, if the multicast uses it.
    followed: Option<u64>,
    last_receivers: Receivers,
    rate_bps: f64,
    has_coordinator: bool,
    meter: Meter,
    left_at: Duration,
    seen_at: Duration,
    counters: PeerCounters,
    outputs: VecDeque<Output>,
}

impl Peer {
    /// Creates a peer that does not know the members yet.
    ///
    /// # Errors
    /// The setup is invalid.
    pub fn new(setup: Arc<Setup>) -> Result<Self, SetupError> {
        let cuts = setup.cuts()?;
        let (me, peers) = (setup.me, setup.peers());
        let mut incarnations = vec![Incarnation::UNKNOWN; peers];
        incarnations[me.index()] = setup.incarnation;
        let others = cuts.iter().enumerate().map(|(at, &cut)| (at != me.index()).then_some(cut)).collect();
        // Before any choice, every peer has as many senders as receivers.
        let ring = (1..=setup.receivers).filter_map(|step| Rank::try_from((me.index() + step) % peers).ok());
        Ok(Peer {
            cut: cuts[me.index()],
            members: Members::new(me, setup.job, setup.plan_version, incarnations),
            sender: Sender::new(me, peers, setup.sender.clone()),
            receiver: Receiver::new(others, setup.receiver.clone()),
            gate: Gate::new(peers, Some(setup.sync.staleness().into())),
            waits: Waits::none(peers),
            phase: Phase::Meeting,
            meeting_since: None,
            waiting_since: None,
            ended: 0,
            model: Vec::new(),
            words: Arc::new([]),
            inbox: BTreeMap::new(),
            lacking: Vec::new(),
            liveness: Liveness::new(peers, setup.peer_timeout),
            newcomer: None,
            term: Term::default(),
            choice: None,
            followed: None,
            last_receivers: ring.collect(),
            rate_bps: setup.rate_bps,
            has_coordinator: false,
            meter: Meter::default(),
            left_at: Duration::ZERO,
            seen_at: Duration::ZERO,
            counters: PeerCounters::default(),
            outputs: VecDeque::new(),
            setup,
        })
    }

    /// Takes the requested update. `now`: time since any fixed moment, the same for all calls.
    ///
    /// # Errors
    /// No update was requested; the length is wrong, or a value is not a finite number.
    pub fn computed(&mut self, model: Vec<f32>, now: Duration) -> Result<(), UpdateError> {
        let (rank, round) = (self.setup.me, self.round());
        let Phase::Computing { since } = self.phase else { return Err(UpdateError::NotAsked { rank }) };
        let (values, expected) = (model.len(), self.cut.values());
        if values != expected {
            return Err(UpdateError::Length { rank, values, expected });
        }
        let words: Arc<[u32]> = model.iter().map(|value| value.to_bits()).collect();
        if !is_finite(&words) {
            let at = model.iter().position(|value| !value.is_finite()).unwrap_or(0);
            return Err(UpdateError::NotFinite { rank, round, at, value: model[at] });
        }
        (self.model, self.words) = (model, words);
        self.phase = Phase::Choosing { since: now };
        self.say_ready(now.saturating_sub(since));
        self.proceed(now);
        Ok(())
    }

    fn say_ready(&mut self, computed: Duration) {
        let round = self.round();
        let has_choice = self.choice.as_ref().is_some_and(|choice| choice.round == round);
        self.report(Body::Ready(Ready { round, computed_seconds: computed.as_secs_f64(), has_choice }));
    }

    /// Handles a connection to a coordinator.
    pub fn coordinator_up(&mut self, now: Duration) {
        self.has_coordinator = true;
        let (me, peers) = (self.setup.me.index(), self.setup.peers());
        self.report(Body::Hello(Hello {
            incarnation: self.setup.incarnation.get(),
            term: Some(self.term),
            ended: self.ended,
            waits: (0..peers).map(|to| self.waits.of(me, to)).collect(),
            job: self.setup.fingerprint(),
            takes_part: !matches!(self.phase, Phase::Meeting | Phase::Outside),
            terms: self.setup.terms().message(),
        }));
        if let Phase::Choosing { since } = self.phase {
            self.say_ready(now.saturating_sub(since));
        }
        self.proceed(now);
    }

    /// Handles the end of the connection to the coordinator: the last receivers stay.
    pub fn coordinator_down(&mut self, now: Duration) {
        self.has_coordinator = false;
        self.proceed(now);
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Duration) {
        self.sender.tick(now);
        self.receiver.tick(now);
        self.remove_failed(now);
        if self.phase == Phase::Sending && now >= self.left_at {
            self.left_at = now + LEFT_EVERY;
            let part = f64::from(self.sender.chunks_left()) / f64::from(self.cut.chunks());
            self.report(Body::Remaining(Remaining { round: self.round(), part }));
        }
        if self.has_coordinator && now >= self.seen_at {
            self.seen_at = now + SEEN_EVERY;
            let (samples, gone) = (self.meter.take(), self.liveness.failed());
            if !samples.is_empty() || !gone.is_empty() {
                self.report(Body::Seen(Seen { samples, gone }));
            }
        }
        self.proceed(now);
    }

    /// Returns when [`tick`](Self::tick), or the next chunk, is due.
    pub fn wake_at(&self) -> Option<Duration> {
        let chosen = match self.phase {
            Phase::Choosing { since } => Some(since.saturating_add(self.setup.choice_patience)),
            Phase::Meeting => Some(self.waits_until()),
            Phase::Waiting => self.newcomer_until().into_iter().chain(self.others_until()).min(),
            _ => None,
        };
        let left = (self.phase == Phase::Sending && self.has_coordinator).then_some(self.left_at);
        let seen = self.has_coordinator.then_some(self.seen_at);
        let machines = [self.sender.wake_at(), self.receiver.wake_at(), self.liveness.wake_at()];
        machines.into_iter().chain([chosen, left, seen]).flatten().min()
    }

    /// Returns the next chunk, if one may leave now; its values are in [`update`](Self::update).
    pub fn next_transmission(&mut self, now: Duration) -> Option<Transmission> {
        self.sender.next_transmission(now)
    }

    /// Takes note that a connection delivered a chunk, where the sender makes the copies.
    pub fn delivered(&mut self, round: u32, to: Rank, now: Duration) {
        self.sender.delivered(round, to, now);
        self.proceed(now);
    }

    /// Takes note that a connection failed to deliver a chunk.
    pub fn failed(&mut self, round: u32, to: Rank, chunk: u32, now: Duration) {
        self.sender.failed(round, to, chunk, now);
        self.proceed(now);
    }

    /// Returns the words of the current round's update, and their cut into chunks.
    pub fn update(&self) -> (Arc<[u32]>, Cut) {
        (self.words.clone(), self.cut)
    }

    /// Returns the members by which frames are written and read.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Returns the next action; `None` until something happens.
    pub fn next_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns the number of peers of the job, itself included.
    pub fn peers(&self) -> usize {
        self.setup.peers()
    }

    /// Returns the current round.
    pub fn round(&self) -> u32 {
        self.ended.saturating_add(1)
    }

    /// Returns whether this peer and all members have ended the last round.
    pub fn is_done(&self) -> bool {
        self.phase == Phase::Finished && self.gate.least() >= self.setup.rounds.into()
    }

    /// Returns the term of the coordinator in charge.
    pub fn term(&self) -> Term {
        self.term
    }

    /// Returns the counters.
    pub fn counters(&self) -> (PeerCounters, SenderCounters, ReceiverCounters) {
        (self.counters, self.sender.counters(), self.receiver.counters())
    }

    /// Describes the peer's state in one line.
    pub fn describe(&self) -> String {
        format!(
            "peer {} is in round {}, {:?}; the last has ended {}; waits for {}, failed {:?}; {:?} {:?}",
            self.setup.me,
            self.round(),
            self.phase,
            self.gate.least(),
            self.sender.waited(),
            self.liveness.failed(),
            self.counters,
            self.members.refused(),
        )
    }

    fn report(&mut self, body: Body) {
        if self.has_coordinator {
            self.outputs.push_back(Output::Report(encode(body)));
        }
    }

    /// Performs all steps that have become possible.
    fn proceed(&mut self, now: Duration) {
        if self.phase == Phase::Meeting {
            self.wait_for_word(now);
        }
        loop {
            self.take_outputs(now);
            let has_changed = match self.phase {
                Phase::Choosing { since } => self.choose(since, now),
                Phase::Waiting => self.next_round(now),
                _ => false,
            };
            if !has_changed {
                break;
            }
        }
        self.wait_for_others(now);
        self.notify_if_due(now);
    }

    fn take_outputs(&mut self, now: Duration) {
        while let Some(output) = self.receiver.next_output() {
            match output {
                ReceiverOutput::Send { to, message } => {
                    if let inart_protocol_peers::Message::Missing { .. } = message {
                        self.meter.lost();
                    }
                    self.outputs.push_back(Output::Send { to, message });
                }
                ReceiverOutput::Received { from, round, words } => self.keep(from, round, words),
                ReceiverOutput::Abandoned { .. } if self.lacking.len() >= MOST_LACKING => {
                    self.counters.unnamed += 1;
                }
                ReceiverOutput::Abandoned { from, round } => self.lacking.push((from, round)),
            }
        }
        while let Some(output) = self.sender.next_output() {
            match output {
                SenderOutput::Send { to, message } => self.outputs.push_back(Output::Send { to, message }),
                SenderOutput::Ended(outcome) => self.end_round(outcome, now),
            }
        }
    }
}
