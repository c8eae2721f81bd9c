//! Tasks of a sender, and their outcomes.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_wire::Rank;
use thiserror::Error;

use crate::receivers::Receivers;

/// The multicast of one update.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Round of the sender; higher than that of the previous task.
    pub round: u32,
    /// Number of chunks of the update, at least 1.
    pub chunks: u32,
    /// Receivers; at least one.
    pub receivers: Receivers,
    /// Rate of the update, in bit/s of frames, each chunk counted once although receivers in several blocks
    /// of 64 make several frames; with copies by the sender, of values to each receiver. Above 0.
    pub rate_bps: f64,
}

/// Reason for which a task is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaskError {
    /// Another multicast is active.
    #[error("the multicast of round {round} is active; start the next one when it has ended")]
    GoesOn {
        /// Round of the active multicast.
        round: u32,
    },
    /// The round is not newer.
    #[error("round {asked} is not after round {newest}, which has started already")]
    Round {
        /// Round of the task.
        asked: u32,
        /// Newest started round.
        newest: u32,
    },
    /// No receivers.
    #[error("the update of round {round} has no receiver; choose at least one")]
    NoReceivers {
        /// Round of the task.
        round: u32,
    },
    /// The sender is a receiver.
    #[error("peer {rank} is the sender; it cannot be a receiver of its own update")]
    Oneself {
        /// The sender.
        rank: Rank,
    },
    /// A receiver is outside the job.
    #[error("receiver {rank} is not in the job, whose ranks are 0 to {last}")]
    Stranger {
        /// Rank of the receiver.
        rank: Rank,
        /// The highest rank.
        last: usize,
    },
    /// No chunks.
    #[error("the update of round {round} has no chunk")]
    Empty {
        /// Round of the task.
        round: u32,
    },
    /// Rate not above 0.
    #[error("{rate_bps} bit/s is not a rate; give one above 0")]
    Rate {
        /// Rate of the task in bit/s.
        rate_bps: f64,
    },
}

impl Task {
    pub(super) fn check(&self, me: Rank, peers: usize) -> Result<(), TaskError> {
        let round = self.round;
        if self.receivers.is_empty() {
            return Err(TaskError::NoReceivers { round });
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

/// A leaving chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Transmission {
    /// Round of the update.
    pub round: u32,
    /// Number of the chunk.
    pub chunk: u32,
    /// Receivers: one frame per block of 64, or a message on one connection.
    pub to: Receivers,
    /// Whether the chunk is a requested retransmission.
    pub is_repair: bool,
}

/// Outcome of a multicast: each of its receivers is in one of three sets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// Round of the update.
    pub round: u32,
    /// Receivers that reported completion.
    pub complete: Receivers,
    /// Receivers that were withdrawn: they may have the update, and have not reported it.
    pub withdrawn: Receivers,
    /// Receivers that timed out: they may have the update, and have not reported it.
    pub given_up: Receivers,
    /// Time until every chunk had left once; with copies by the sender, `took`.
    pub passed: Duration,
    /// Duration of the multicast.
    pub took: Duration,
    /// Time until each of `complete` had reported.
    pub times: BTreeMap<Rank, Duration>,
}
