//! The sender of updates, one after another.

mod multicast;
mod options;
mod receiver_state;
mod task;

use std::collections::VecDeque;
use std::time::Duration;

use inart_wire::Rank;

use crate::counters::SenderCounters;
use crate::message::Message;
use crate::receivers::Receivers;
use multicast::Multicast;
pub use options::{Copies, SenderOptions};
pub use task::{Outcome, Task, TaskError, Transmission};

/// Action for the owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SenderOutput {
    /// Sends a message.
    Send {
        /// Receiver of the message.
        to: Rank,
        /// Message.
        message: Message,
    },
    /// Reports the end of a round's multicast.
    Ended(Outcome),
}

/// State machine of a sending peer. Chunks are numbers here; the owner has their values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sender {
    me: Rank,
    /// Number of peers in the job.
    peers: usize,
    options: SenderOptions,
    open: Option<Multicast>,
    /// Newest round that was started.
    newest: Option<u32>,
    counters: SenderCounters,
    outputs: VecDeque<SenderOutput>,
}

impl Sender {
    /// Creates a sender in a job of `peers` peers.
    pub fn new(me: Rank, peers: usize, options: SenderOptions) -> Self {
        Sender {
            me,
            peers,
            options,
            open: None,
            newest: None,
            counters: SenderCounters::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Starts the multicast of a round. `now`: time since any fixed moment, the same for all calls.
    ///
    /// # Errors
    /// Another multicast is active; the round is not newer; there are no receivers, or one is this peer or
    /// not in the job; there are no chunks; the rate is not above 0.
    pub fn begin(&mut self, task: &Task, now: Duration) -> Result<(), TaskError> {
        if let Some(open) = &self.open {
            return Err(TaskError::GoesOn { round: open.round() });
        }
        if let Some(newest) = self.newest.filter(|&newest| newest >= task.round) {
            return Err(TaskError::Round { asked: task.round, newest });
        }
        task.check(self.me, self.peers)?;
        self.newest = Some(task.round);
        self.open = Some(Multicast::new(self.me, task, &self.options, now));
        Ok(())
    }

    /// Restricts the active multicast to those receivers. A peer that was not a receiver cannot become one
    /// (SELMCAST, Section III-C); returns such peers.
    pub fn retain(&mut self, receivers: &Receivers, now: Duration) -> Receivers {
        let Some(open) = &mut self.open else { return receivers.clone() };
        let added = receivers.iter().filter(|&rank| !open.has(rank)).collect();
        let gone: Vec<Rank> = open.waited().iter().filter(|&rank| !receivers.contains(rank)).collect();
        for rank in gone {
            self.end_for(rank, |open, rank| open.withdraw(rank), now);
        }
        added
    }

    /// Handles a permanently failed peer: the multicast does not wait for it.
    pub fn peer_failed(&mut self, rank: Rank, now: Duration) {
        self.counters.given_up += u64::from(self.end_for(rank, |open, rank| open.give_up(rank), now));
    }

    fn end_for(&mut self, rank: Rank, end: impl Fn(&mut Multicast, Rank) -> bool, now: Duration) -> bool {
        let Some(open) = &mut self.open else { return false };
        let round = open.round();
        let ended = end(open, rank);
        if ended {
            self.outputs.push_back(SenderOutput::Send { to: rank, message: Message::Withdrawn { round } });
        }
        self.close(now);
        ended
    }

    /// Continues at another rate, in bit/s; above 0.
    pub fn set_rate(&mut self, rate_bps: f64, now: Duration) {
        if let Some(open) = self.open.as_mut().filter(|_| rate_bps > 0.0) {
            open.set_rate(rate_bps, &self.options, now);
        }
    }

    /// Returns the next chunk, if one may leave now.
    pub fn next_transmission(&mut self, now: Duration) -> Option<Transmission> {
        self.open.as_mut()?.next(&self.options, &mut self.counters, now)
    }

    /// Takes a message from a receiver. The envelope is verified.
    pub fn message(&mut self, from: Rank, message: &Message, now: Duration) {
        let round = message.round();
        let is_open = |open: &&mut Multicast| open.round() == round && open.has(from);
        let Some(open) = self.open.as_mut().filter(is_open) else {
            self.counters.late += 1;
            return self.refuse(from, message);
        };
        match message {
            Message::Complete { .. } => open.complete(from, now),
            Message::Missing { .. } if !open.is_waited(from) => {
                let is_refused = !open.is_complete(from);
                self.counters.late += 1;
                if is_refused {
                    self.refuse(from, message);
                }
            }
            Message::Missing { chunks, .. } => {
                self.counters.misfits += u64::from(!open.lacks(from, chunks, now));
            }
            Message::Poll { .. } | Message::Withdrawn { .. } => self.counters.misfits += 1,
        }
        self.close(now);
    }

    /// Notifies a peer that requests chunks which it will not get.
    fn refuse(&mut self, from: Rank, message: &Message) {
        if let Message::Missing { round, .. } = *message {
            let message = Message::Withdrawn { round };
            self.outputs.push_back(SenderOutput::Send { to: from, message });
        }
    }

    /// Takes note that a chunk on the connection to a receiver has been delivered.
    pub fn delivered(&mut self, round: u32, to: Rank, now: Duration) {
        if let Some(open) = self.open.as_mut().filter(|open| open.round() == round) {
            open.delivered(to, &self.options, now);
        }
    }

    /// Takes note that a chunk on the connection to a receiver has failed: it is retransmitted after a while.
    pub fn failed(&mut self, round: u32, to: Rank, chunk: u32, now: Duration) {
        self.counters.failed += 1;
        if let Some(open) = self.open.as_mut().filter(|open| open.round() == round) {
            open.failed(to, chunk, &self.options, now);
        }
    }

    /// Performs the actions that are due.
    pub fn tick(&mut self, now: Duration) {
        let Some(open) = &mut self.open else { return };
        let round = open.round();
        for rank in open.too_late(&self.options, now) {
            self.counters.given_up += 1;
            open.give_up(rank);
            self.outputs.push_back(SenderOutput::Send { to: rank, message: Message::Withdrawn { round } });
        }
        for rank in open.due_polls(&self.options, now) {
            self.counters.polls += 1;
            self.outputs.push_back(SenderOutput::Send { to: rank, message: Message::Poll { round } });
        }
        self.close(now);
    }

    /// Returns when something is due: a chunk, a poll, an end of patience. `None`: nothing until a message
    /// arrives.
    pub fn wake_at(&self) -> Option<Duration> {
        self.open.as_ref()?.wake_at(&self.options)
    }

    /// Returns the next action; `None` until something happens.
    pub fn next_output(&mut self) -> Option<SenderOutput> {
        self.outputs.pop_front()
    }

    /// Returns the round of the active multicast.
    pub fn open_round(&self) -> Option<u32> {
        self.open.as_ref().map(Multicast::round)
    }

    /// Returns the receivers that have not reported completion; empty without an active multicast.
    pub fn waited(&self) -> Receivers {
        self.open.as_ref().map_or_else(Receivers::default, |open| open.waited().clone())
    }

    /// Returns the chunks of the active update that were not yet sent to all their receivers.
    pub fn chunks_left(&self) -> u32 {
        self.open.as_ref().map_or(0, Multicast::chunks_left)
    }

    /// Returns the counters.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    fn close(&mut self, now: Duration) {
        if let Some(open) = self.open.take_if(|open| open.waited().is_empty()) {
            self.outputs.push_back(SenderOutput::Ended(open.outcome(now)));
        }
    }
}
