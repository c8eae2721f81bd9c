//! A coordinator with its messages: one at a time per peer.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Lane, Machine, Output, PeerNo, Seen};
use inart_wire::Rank;

use super::{Coordinator, CoordinatorOutput};
use crate::message::{Body, encode};
use crate::select::Selector;
use crate::term::Term;

/// Most messages that wait for one peer; a peer that reads none gets the newest ones later.
const MOST_WAITING: usize = 1024;
/// Default time without any connected peer after which the process ends.
const PATIENCE: Duration = Duration::from_secs(600);
/// Messages of a coordinator share their connections with nothing else.
const PRIORITY: i32 = 0;

/// Report of a coordinator to its host.
#[derive(Debug, Clone, PartialEq)]
pub enum CoordinatorReport {
    /// The coordinator is in charge.
    InCharge {
        /// Term of the coordinator.
        term: Term,
        /// Peers that take part, ascending.
        peers: Vec<Rank>,
    },
    /// Receivers were chosen.
    Chosen {
        /// Sender of the update.
        from: Rank,
        /// Round of the sender.
        round: u32,
        /// Receivers.
        to: Vec<Rank>,
        /// Sending rate, in bit/s.
        rate_bps: f64,
    },
    /// No receivers could be chosen; peers send to their last ones.
    NotChosen {
        /// Reason, as the end of a sentence.
        why: String,
    },
    /// A peer of another job configuration was refused.
    OtherJob {
        /// The peer.
        peer: Rank,
        /// First setting that differs, with both values.
        why: String,
    },
    /// A newer coordinator is in charge: the process ends.
    Superseded {
        /// Term of the newer coordinator.
        by: Term,
    },
    /// No peer has been connected for too long: the process ends.
    Alone {
        /// Time without a peer.
        waited: Duration,
    },
}

/// A coordinator, as a process. Numbers of peers are their ranks.
#[derive(Debug)]
pub struct CoordinatorProcess<S> {
    coordinator: Coordinator<S>,
    /// Peers with a connection.
    lanes: BTreeMap<Rank, Lane>,
    /// Receivers of messages in flight.
    under_way: BTreeMap<u64, Rank>,
    next_id: u64,
    /// Incarnations in the last reported roster.
    roll: Vec<u32>,
    alone_since: Option<Duration>,
    patience: Duration,
    reports: VecDeque<CoordinatorReport>,
    is_over: bool,
    has_ended: bool,
}

impl<S: Selector> CoordinatorProcess<S> {
    /// Creates a process without connected peers.
    pub fn new(coordinator: Coordinator<S>) -> Self {
        CoordinatorProcess {
            coordinator,
            lanes: BTreeMap::new(),
            under_way: BTreeMap::new(),
            next_id: 0,
            roll: Vec::new(),
            alone_since: Some(Duration::ZERO),
            patience: PATIENCE,
            reports: VecDeque::new(),
            is_over: false,
            has_ended: false,
        }
    }

    /// Sets the time without any connected peer after which the process ends; 600 s by default.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the coordinator.
    pub fn coordinator(&self) -> &Coordinator<S> {
        &self.coordinator
    }

    /// Returns whether a peer is connected.
    pub fn is_connected(&self, peer: Rank) -> bool {
        self.lanes.contains_key(&peer)
    }

    /// Returns whether the process waits for peers: before it is in charge, and without any.
    pub fn waits(&self) -> bool {
        self.coordinator.term().is_none() || self.lanes.is_empty()
    }

    fn take(&mut self, output: CoordinatorOutput) {
        match output {
            CoordinatorOutput::Send { to, body } => {
                self.note(to, &body);
                if let Some(lane) = self.lanes.get_mut(&to) {
                    lane.push_newest(encode(body));
                }
            }
            // The message to the peer names the difference.
            CoordinatorOutput::OtherJob { .. } => {}
            CoordinatorOutput::NotChosen { why } => {
                self.reports.push_back(CoordinatorReport::NotChosen { why })
            }
            CoordinatorOutput::Superseded { by } => {
                self.is_over = true;
                self.reports.push_back(CoordinatorReport::Superseded { by });
            }
            CoordinatorOutput::Over => self.is_over = true,
        }
    }

    /// Reports the decision in a message to a peer.
    fn note(&mut self, to: Rank, body: &Body) {
        let rank = |at: usize| Rank::try_from(at).ok();
        self.reports.extend(match body {
            Body::Roster(roster) if roster.incarnations != self.roll => {
                self.roll.clone_from(&roster.incarnations);
                let there = (0..roster.incarnations.len()).filter(|&at| roster.incarnations[at] != 0);
                let (term, peers) = (roster.term.unwrap_or_default(), there.filter_map(rank).collect());
                Some(CoordinatorReport::InCharge { term, peers })
            }
            Body::Choice(choice) => Some(CoordinatorReport::Chosen {
                from: to,
                round: choice.round,
                to: choice.receivers.iter().filter_map(|&at| rank(at as usize)).collect(),
                rate_bps: choice.rate_bps,
            }),
            Body::OtherJob(other) => Some(CoordinatorReport::OtherJob { peer: to, why: other.why.clone() }),
            _ => None,
        });
    }

    /// Returns the end of the process, once.
    fn over(&mut self) -> Option<Output<CoordinatorReport>> {
        (!std::mem::replace(&mut self.has_ended, true)).then_some(Output::Over)
    }

    fn next_message(&mut self, now: Duration) -> Option<Output<CoordinatorReport>> {
        let id = self.next_id;
        let (rank, data) = self.lanes.iter_mut().find_map(|(to, lane)| Some((*to, lane.next(id, now)?)))?;
        self.next_id += 1;
        self.under_way.insert(id, rank);
        Some(Output::Send { to: PeerNo(u32::from(rank.get())), id, data, priority: PRIORITY })
    }
}

impl<S: Selector> Machine for CoordinatorProcess<S> {
    type Command = Infallible;
    type Report = CoordinatorReport;
    type Done = ();

    fn up(&mut self, peer: PeerNo, _now: Duration) {
        let Ok(rank) = Rank::try_from(peer.index()) else { return };
        self.lanes.insert(rank, Lane::of(MOST_WAITING));
        self.alone_since = None;
    }

    fn down(&mut self, peer: PeerNo, now: Duration) {
        let Ok(rank) = Rank::try_from(peer.index()) else { return };
        self.lanes.remove(&rank);
        if self.lanes.is_empty() {
            self.alone_since.get_or_insert(now);
        }
        self.coordinator.down(rank, now);
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, _seen: Option<Seen>, now: Duration) {
        if let Ok(rank) = Rank::try_from(from.index()) {
            self.coordinator.message(rank, data.clone(), now);
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        let lane = self.under_way.remove(&id).and_then(|rank| self.lanes.get_mut(&rank));
        if let Some(lane) = lane {
            lane.ended(id, is_taken, now);
        }
    }

    fn command(&mut self, command: Infallible, _now: Duration) {
        match command {}
    }

    fn stop(&mut self, _why: &str, _now: Duration) {
        self.reports.clear();
        self.is_over = true;
    }

    fn tick(&mut self, now: Duration) {
        let waited = self.alone_since.map(|since| now.saturating_sub(since));
        if let Some(waited) = waited.filter(|waited| *waited >= self.patience) {
            (self.alone_since, self.is_over) = (None, true);
            self.reports.push_back(CoordinatorReport::Alone { waited });
        }
        self.coordinator.tick(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        let alone = self.alone_since.map(|since| since.saturating_add(self.patience));
        let lanes = self.lanes.values().filter_map(Lane::wake_at);
        lanes.chain(alone).chain(self.coordinator.wake_at()).min()
    }

    fn next(&mut self, now: Duration) -> Option<Output<CoordinatorReport>> {
        while !self.is_over
            && let Some(output) = self.coordinator.next_output()
        {
            self.take(output);
        }
        if let Some(report) = self.reports.pop_front() {
            return Some(Output::Report(report));
        }
        if self.is_over {
            return self.over();
        }
        self.next_message(now)
    }

    /// Peers close their connections after their last round.
    fn may_end(&self, peer: PeerNo) -> bool {
        Rank::try_from(peer.index()).is_ok_and(|rank| self.coordinator.has_finished(rank))
    }
}
