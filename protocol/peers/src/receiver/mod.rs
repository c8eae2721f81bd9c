//! The receiver of many senders' concurrent updates.

mod assembly;
mod options;

use std::collections::VecDeque;
use std::time::Duration;

use inart_wire::Rank;

use crate::counters::ReceiverCounters;
use crate::message::Message;
use crate::update::{Cut, round_near};
use assembly::{Assembly, InsertOutcome};
pub use options::ReceiverOptions;

/// Action for the owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReceiverOutput {
    /// Sends a message.
    Send {
        /// Receiver of the message.
        to: Rank,
        /// Message.
        message: Message,
    },
    /// Hands over a complete update, once.
    Received {
        /// Sender.
        from: Rank,
        /// Round of the sender.
        round: u32,
        /// 32-bit words of the update.
        words: Vec<u32>,
    },
    /// Reports that an update that was started or announced will not be completed.
    Abandoned {
        /// Sender.
        from: Rank,
        /// Round of the sender.
        round: u32,
    },
}

/// State of the newest round of one sender.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum NewestRound {
    None,
    Open(Assembly),
    Complete(u32),
    Abandoned(u32),
    /// The sender has failed: later arrivals of it are late.
    Gone,
}

impl NewestRound {
    fn round(&self) -> Option<u32> {
        match self {
            NewestRound::None | NewestRound::Gone => None,
            NewestRound::Open(assembly) => Some(assembly.round),
            NewestRound::Complete(round) | NewestRound::Abandoned(round) => Some(*round),
        }
    }
}

/// State machine of a receiving peer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receiver {
    options: ReceiverOptions,
    /// Cut of each peer's updates, by rank; `None` for this peer itself.
    cuts: Vec<Option<Cut>>,
    newest: Vec<NewestRound>,
    /// Approximate first round of each peer, by rank.
    first: Vec<u32>,
    counters: ReceiverCounters,
    outputs: VecDeque<ReceiverOutput>,
}

impl Receiver {
    /// Creates a receiver without updates. `cuts`: the cut of each peer's updates, by rank; `None` for this
    /// peer itself.
    pub fn new(cuts: Vec<Option<Cut>>, options: ReceiverOptions) -> Self {
        Receiver {
            options,
            newest: vec![NewestRound::None; cuts.len()],
            first: vec![0; cuts.len()],
            cuts,
            counters: ReceiverCounters::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Takes a chunk in a frame, which has the lower 16 bits of its round. The sender is verified. `now`:
    /// time since any fixed moment, the same for all calls.
    pub fn frame(
        &mut self,
        from: Rank,
        round: u16,
        chunk: u32,
        words: impl ExactSizeIterator<Item = u32>,
        now: Duration,
    ) {
        let first = self.first.get(from.index()).copied().unwrap_or(0);
        let known = self.newest.get(from.index()).and_then(NewestRound::round).unwrap_or(first);
        self.chunk(from, round_near(known, round), chunk, words, now);
    }

    /// Takes a chunk of an update. The sender is verified.
    pub fn chunk(
        &mut self,
        from: Rank,
        round: u32,
        chunk: u32,
        words: impl ExactSizeIterator<Item = u32>,
        now: Duration,
    ) {
        let Some(cut) = self.cut_of(from) else { return };
        let length = cut.range(chunk).len();
        if length == 0 || length != words.len() {
            self.counters.misfits += 1;
            return;
        }
        let (reorder, quiet) = (self.options.reorder, self.options.quiet);
        let Some(assembly) = self.assembly_of(from, round, cut) else { return };
        let had_asked = assembly.has_asked();
        match assembly.place(chunk, words) {
            InsertOutcome::Repeated => self.counters.repeated += 1,
            InsertOutcome::Misfit => self.counters.misfits += 1,
            InsertOutcome::New if assembly.is_answered(chunk, had_asked) => {
                // All expected chunks have arrived, and some are missing.
                assembly.ask_at = Some(now.saturating_add(reorder));
            }
            InsertOutcome::New => assembly.put_off(quiet, now),
            InsertOutcome::Whole => self.finish(from, round),
        }
    }

    fn cut_of(&mut self, from: Rank) -> Option<Cut> {
        let cut = self.cuts.get(from.index()).copied().flatten();
        self.counters.unknown_senders += u64::from(cut.is_none());
        cut
    }

    /// Returns the open update of that round; a newer round than the known one opens an update. `None`,
    /// counted, if the round is not open.
    fn assembly_of(&mut self, from: Rank, round: u32, cut: Cut) -> Option<&mut Assembly> {
        let known = self.newest[from.index()].round();
        if self.newest[from.index()] != NewestRound::Gone && known.is_none_or(|known| round > known) {
            self.abandon(from);
            self.newest[from.index()] = NewestRound::Open(Assembly::new(round, cut));
        }
        match &mut self.newest[from.index()] {
            NewestRound::Open(assembly) if assembly.round == round => Some(assembly),
            NewestRound::Complete(complete) if *complete == round => {
                self.counters.repeated += 1;
                None
            }
            _ => {
                self.counters.late += 1;
                None
            }
        }
    }

    fn finish(&mut self, from: Rank, round: u32) {
        let whole = std::mem::replace(&mut self.newest[from.index()], NewestRound::Complete(round));
        if let NewestRound::Open(assembly) = whole {
            self.counters.complete += 1;
            self.outputs.push_back(ReceiverOutput::Received { from, round, words: assembly.into_words() });
        }
        self.send(from, Message::Complete { round });
    }

    fn send(&mut self, to: Rank, message: Message) {
        self.outputs.push_back(ReceiverOutput::Send { to, message });
    }

    /// Abandons the open update of that sender.
    fn abandon(&mut self, from: Rank) {
        if let NewestRound::Open(Assembly { round, .. }) = self.newest[from.index()] {
            self.newest[from.index()] = NewestRound::Abandoned(round);
            self.counters.abandoned += 1;
            self.outputs.push_back(ReceiverOutput::Abandoned { from, round });
        }
    }

    /// Takes a message from a sender. The envelope is verified.
    pub fn message(&mut self, from: Rank, message: &Message, now: Duration) {
        let Some(cut) = self.cut_of(from) else { return };
        let complete = match self.newest[from.index()] {
            NewestRound::Complete(round) => Some(round),
            _ => None,
        };
        match *message {
            Message::Poll { round } if complete == Some(round) => {
                self.send(from, Message::Complete { round });
            }
            Message::Poll { round } => {
                if self.assembly_of(from, round, cut).is_some() {
                    self.ask(from, now);
                }
            }
            Message::Withdrawn { round } => match self.newest[from.index()].round() {
                Some(known) if known == round => self.abandon(from),
                Some(known) if known > round => self.counters.late += 1,
                None if self.newest[from.index()] == NewestRound::Gone => self.counters.late += 1,
                // None of it has arrived, and none will.
                _ => {
                    self.abandon(from);
                    self.newest[from.index()] = NewestRound::Abandoned(round);
                }
            },
            Message::Complete { .. } | Message::Missing { .. } => self.counters.misfits += 1,
        }
    }

    fn ask(&mut self, from: Rank, now: Duration) {
        let NewestRound::Open(assembly) = &mut self.newest[from.index()] else { return };
        let round = assembly.round;
        let asks = assembly.ask(self.options.asks_at_once, self.options.ranges_per_ask);
        assembly.put_off(self.options.quiet, now);
        self.counters.asks += asks.len() as u64;
        asks.into_iter().for_each(|chunks| self.send(from, Message::Missing { round, chunks }));
    }

    /// Sends the requests that are due.
    pub fn tick(&mut self, now: Duration) {
        let is_due = |newest: &NewestRound| match newest {
            NewestRound::Open(assembly) => assembly.ask_at.is_some_and(|at| at <= now),
            _ => false,
        };
        let due: Vec<usize> = (0..self.newest.len()).filter(|&at| is_due(&self.newest[at])).collect();
        due.into_iter().filter_map(|at| Rank::try_from(at).ok()).for_each(|from| self.ask(from, now));
    }

    /// Returns when a request is due. `None`: not before a chunk arrives.
    pub fn wake_at(&self) -> Option<Duration> {
        let of = |newest: &NewestRound| match newest {
            NewestRound::Open(assembly) => assembly.ask_at,
            _ => None,
        };
        self.newest.iter().filter_map(of).min()
    }

    /// Handles a failed peer: its open update is abandoned, and later arrivals are dropped.
    pub fn peer_failed(&mut self, from: Rank) {
        if from.index() < self.newest.len() {
            self.abandon(from);
            self.newest[from.index()] = NewestRound::Gone;
        }
    }

    /// Handles a peer that returns in another incarnation, whose first update is of that round or one soon
    /// after it. Updates of the previous incarnation are not handed over any more.
    pub fn peer_returned(&mut self, from: Rank, round: u32) {
        if from.index() < self.newest.len() {
            self.abandon(from);
            self.newest[from.index()] = NewestRound::None;
            self.first[from.index()] = round;
        }
    }

    /// Returns the next action; `None` until something happens.
    pub fn next_output(&mut self) -> Option<ReceiverOutput> {
        self.outputs.pop_front()
    }

    /// Returns the counters.
    pub fn counters(&self) -> ReceiverCounters {
        self.counters
    }
}
