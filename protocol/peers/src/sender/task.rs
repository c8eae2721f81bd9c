//! What a sender is told to do, and what it says of it.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::Rank;
use thiserror::Error;

use crate::receivers::Receivers;

/// The multicast of one update.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The sender's round; higher than that of the task before.
    pub round: u32,
    /// Chunks of the update, at least 1.
    pub chunks: u32,
    /// For whom; at least one.
    pub receivers: Receivers,
    /// How fast the update leaves, in bit/s of frames, each chunk counted once although receivers in several
    /// blocks of 64 make several frames; with copies by the sender, values to each receiver. Above 0.
    pub rate_bps: f64,
}

/// Why a task is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaskError {
    /// There is one at a time.
    #[error("the multicast of round {round} is active; start the next one when it has ended")]
    GoesOn {
        /// Of which round.
        round: u32,
    },
    /// Rounds count up.
    #[error("round {asked} is not after round {newest}, which was begun before it")]
    Round {
        /// Of the task.
        asked: u32,
        /// The newest that was begun.
        newest: u32,
    },
    /// An update is for somebody.
    #[error("the update of round {round} has no receiver; choose at least one")]
    Nobody {
        /// Of the task.
        round: u32,
    },
    /// Nobody sends to himself.
    #[error("peer {rank} is the sender; it cannot be a receiver of its own update")]
    Oneself {
        /// The sender.
        rank: Rank,
    },
    /// Receivers are in the job.
    #[error("receiver {rank} is not in the job, whose ranks are 0 to {last}")]
    Stranger {
        /// Who.
        rank: Rank,
        /// The highest rank.
        last: usize,
    },
    /// An update has values.
    #[error("the update of round {round} has no chunk")]
    Empty {
        /// Of the task.
        round: u32,
    },
    /// Frames have to leave.
    #[error("{rate_bps} bit/s is not a rate; give one above 0")]
    Rate {
        /// In bit/s.
        rate_bps: f64,
    },
}

impl Task {
    pub(super) fn check(&self, me: Rank, peers: usize) -> Result<(), TaskError> {
        let round = self.round;
        if self.receivers.is_empty() {
            return Err(TaskError::Nobody { round });
        }
        if self.receivers.contains(me) {
            return Err(TaskError::Oneself { rank: me });
        }
        if let Some(rank) = self.receivers.iter().find(|rank| rank.index() >= peers) {
            return Err(TaskError::Stranger { rank, last: peers.saturating_sub(1) });
        }
        if self.chunks == 0 {
            return Err(TaskError::Empty { round });
        }
        match self.rate_bps > 0.0 {
            true => Ok(()),
            false => Err(TaskError::Rate { rate_bps: self.rate_bps }),
        }
    }
}

/// A chunk that leaves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Transmission {
    /// Of which round.
    pub round: u32,
    /// Which.
    pub chunk: u32,
    /// For whom: one frame per block of 64, or a message on one connection.
    pub to: Receivers,
    /// Whether they asked for it: it was sent to them before.
    pub is_repair: bool,
}

/// How a multicast ended: each of its receivers is in one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// Of which round.
    pub round: u32,
    /// Who said that it has the update, whole.
    pub complete: Receivers,
    /// From whom it was withdrawn: they may have it or not, and have not said so.
    pub withdrawn: Receivers,
    /// Who was given up: the same.
    pub given_up: Receivers,
    /// How long it took until every chunk had left once; with copies by the sender, `took`.
    pub passed: Duration,
    /// How long it took.
    pub took: Duration,
    /// How long it took until each of `complete` had said so.
    pub times: BTreeMap<Rank, Duration>,
}
