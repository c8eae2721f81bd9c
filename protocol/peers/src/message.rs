//! What senders and receivers tell each other beside chunks.

use std::fmt;

use inart_wire::{Incarnation, Rank};

use crate::ranges::Ranges;

/// About the update of one round. Who sends whom the message is in its [`Envelope`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Message {
    /// Receiver to sender: the update is here, whole.
    Complete {
        /// Of which round.
        round: u32,
    },
    /// Receiver to sender: these chunks are not here. There may be more.
    Missing {
        /// Of which round.
        round: u32,
        /// Which; at least one.
        chunks: Ranges,
    },
    /// Sender to receiver: this update is for you; what of it is not there?
    Poll {
        /// Of which round.
        round: u32,
    },
    /// Sender to receiver: no more of this update comes to you.
    Withdrawn {
        /// Of which round.
        round: u32,
    },
}

/// Between whom a message goes. A host that was restarted is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// Who sends it.
    pub from: Rank,
    /// The sender's incarnation.
    pub incarnation: Incarnation,
    /// Who it is for.
    pub to: Rank,
    /// The incarnation of that peer, as the sender knows it.
    pub to_incarnation: Incarnation,
}

impl Message {
    /// Words before the ranges of a message of kind missing.
    const HEAD: usize = 6;
    const COMPLETE: u32 = 16;
    const MISSING: u32 = 17;
    const POLL: u32 = 18;
    const WITHDRAWN: u32 = 19;

    /// The update's round.
    pub fn round(&self) -> u32 {
        match *self {
            Message::Complete { round } | Message::Poll { round } | Message::Withdrawn { round } => round,
            Message::Missing { round, .. } => round,
        }
    }

    /// Whether a sender of updates sends it, and a receiver takes it.
    pub fn is_senders(&self) -> bool {
        matches!(self, Message::Poll { .. } | Message::Withdrawn { .. })
    }

    /// How many ranges of missing chunks fit into a message of so many words.
    pub fn ranges_within(words: usize) -> usize {
        words.saturating_sub(Self::HEAD) / 2
    }

    /// The message as 32-bit words: code, round, sender and receiver by rank, their incarnations, the number
    /// of ranges; then first chunk and number of chunks of each range.
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

    /// Reads a message; words behind it are ignored. `None` if it is none: an unknown code, a rank above the
    /// highest, ranges that are cut off, empty, or beyond 2^31.
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
            Message::Poll { round } => write!(f, "what does update {round} lack?"),
            Message::Withdrawn { round } => write!(f, "update {round} is withdrawn"),
        }
    }
}
