//! Identity of an update, and its cut into chunks.

use std::fmt;
use std::ops::Range;

use inart_wire::{Incarnation, Rank};

/// One peer's update of one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UpdateId {
    /// Sender.
    pub from: Rank,
    /// Incarnation of the sender.
    pub incarnation: Incarnation,
    /// Round of the sender. Rounds count up, and continue from the previous incarnation's last one.
    pub round: u32,
}

impl fmt::Display for UpdateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "update {} of peer {} (incarnation {})", self.round, self.from, self.incarnation)
    }
}

/// Returns the round nearest to `known` whose low 16 bits are `seen`, as in a frame.
pub fn round_near(known: u32, seen: u16) -> u32 {
    let ahead = seen.wrapping_sub(known as u16) as i16;
    known.saturating_add_signed(ahead.into())
}

/// Cut of an update into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cut {
    values: usize,
    chunk_values: usize,
}

impl Cut {
    /// Cuts an update of `values` values, at least 1, into chunks of `chunk_values`, at least 1; the last may
    /// be shorter. `None` if one of them is 0, or if there are 2^31 chunks or more.
    pub fn new(values: usize, chunk_values: usize) -> Option<Self> {
        let chunks = values.checked_div(chunk_values)?;
        (values > 0 && chunks < 1 << 31).then_some(Cut { values, chunk_values })
    }

    /// Returns the values of the update.
    pub fn values(self) -> usize {
        self.values
    }

    /// Returns the number of chunks.
    pub fn chunks(self) -> u32 {
        self.values.div_ceil(self.chunk_values) as u32
    }

    /// Returns the values of a chunk; empty if there is no such chunk.
    pub fn range(self, chunk: u32) -> Range<usize> {
        let first = (chunk as usize).saturating_mul(self.chunk_values).min(self.values);
        first..first.saturating_add(self.chunk_values).min(self.values)
    }

    /// Returns whether a chunk is the last one.
    pub fn is_last(self, chunk: u32) -> bool {
        chunk.checked_add(1) == Some(self.chunks())
    }
}
