//! Messages between senders and receivers, next to chunks.

use std::fmt;

use inart_wire::{Incarnation, Rank};

use crate::ranges::Ranges;

/// Message about the update of one round. Its [`Envelope`] names sender and receiver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Message {
    /// Receiver to sender: the update is complete.
    Complete {
        /// Round of the update.
        round: u32,
    },
    /// Receiver to sender: these chunks are missing, and possibly others.
    Missing {
        /// Round of the update.
        round: u32,
        /// Missing chunks; at least one.
        chunks: Ranges,
    },
    /// Sender to receiver: announcement of the update, and question for missing chunks.
    Poll {
        /// Round of the update.
        round: u32,
    },
    /// Sender to receiver: the update is withdrawn.
    Withdrawn {
        /// Round of the update.
        round: u32,
    },
}

/// Sender and receiver of a message. A restarted host has another incarnation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// Sender.
    pub from: Rank,
    /// The sender's incarnation.
    pub incarnation: Incarnation,
    /// Receiver.
    pub to: Rank,
    /// Receiver's incarnation, as the sender knows it.
    pub to_incarnation: Incarnation,
}

impl Message {
    /// Words before the ranges of a message of kind missing.
    const HEAD: usize = 6;
    const COMPLETE: u32 = 16;
    const MISSING: u32 = 17;
    const POLL: u32 = 18;
    const WITHDRAWN: u32 = 19;

    /// Returns the update's round.
    pub fn round(&self) -> u32 {
        match *self {
            Message::Complete { round } | Message::Poll { round } | Message::Withdrawn { round } => round,
            Message::Missing { round, .. } => round,
        }
    }

    /// Returns whether senders of updates send the message, and receivers take it.
    pub fn is_senders(&self) -> bool {
        matches!(self, Message::Poll { .. } | Message::Withdrawn { .. })
    }

    /// Returns how many ranges of missing chunks fit into a message of `words` words.
    pub fn ranges_within(words: usize) -> usize {
        words.saturating_sub(Self::HEAD) / 2
    }

    /// Encodes the message as 32-bit words: code, round, sender and receiver by rank, their incarnations, the
    /// number of ranges; then first chunk and number of chunks of each range.
    pub fn words(&self, between: &Envelope) -> Vec<u32> {
        let code = match self {
            Message::Complete { .. } => Self::COMPLETE,
            Message::Missing { .. } => Self::MISSING,
            Message::Poll { .. } => Self::POLL,
            Message::Withdrawn { .. } => Self::WITHDRAWN,
        };
        let ranks = u32::from(between.from.get()) << 16 | u32::from(between.to.get());
        let ranges: Vec<_> = match self {
            Message::Missing { chunks, .. } => chunks.iter().collect(),
            _ => Vec::new(),
        };
        let count = ranges.len() as u32;
        let mut words =
            vec![code, self.round(), ranks, between.incarnation.get(), between.to_incarnation.get(), count];
        words.extend(ranges.into_iter().flat_map(|range| [range.start, range.end - range.start]));
        words
    }

    /// Decodes a message and ignores trailing words. `None` if it is invalid: an unknown code, a rank above
    /// the highest, or ranges that are cut off, empty, or beyond 2^31.
    pub fn parse(words: &[u32]) -> Option<(Envelope, Message)> {
        let (&[code, round, ranks, incarnation, to_incarnation, count], rest) = words.split_first_chunk()?;
        let envelope = Envelope {
            from: Rank::try_from((ranks >> 16) as u16).ok()?,
            incarnation: Incarnation::new(incarnation),
            to: Rank::try_from(ranks as u16).ok()?,
            to_incarnation: Incarnation::new(to_incarnation),
        };
        let message = match code {
            Self::COMPLETE => Message::Complete { round },
            Self::POLL => Message::Poll { round },
            Self::WITHDRAWN => Message::Withdrawn { round },
            Self::MISSING => Message::Missing { round, chunks: ranges(rest, count)? },
            _ => return None,
        };
        Some((envelope, message))
    }
}

fn ranges(words: &[u32], count: u32) -> Option<Ranges> {
    let (pairs, _) = words.as_chunks::<2>();
    let pairs = pairs.get(..count as usize).filter(|pairs| !pairs.is_empty())?;
    let mut chunks = Ranges::default();
    for &[first, len] in pairs {
        let end = first.checked_add(len).filter(|&end| len > 0 && end <= 1 << 31)?;
        chunks.insert(first..end);
    }
    Some(chunks)
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Complete { round } => write!(f, "update {round} is complete"),
            Message::Missing { round, chunks } => write!(f, "update {round} lacks chunks {chunks}"),
            Message::Poll { round } => write!(f, "poll for update {round}"),
            Message::Withdrawn { round } => write!(f, "update {round} is withdrawn"),
        }
    }
}
