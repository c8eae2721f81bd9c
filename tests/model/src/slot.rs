//! A slot of a switch, and which one a chunk has.

use crate::config::Config;
use crate::frame::Contribution;
use crate::mutant::Mutant;
use crate::node::Ranks;
use crate::run::Run;
use crate::scale::Exponent;
use crate::size::MAX_WINDOW;
use crate::sum::Sum;

/// A slot: all its registers. An unused slot has zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Tag; runs and plan versions before share the slots, all else in a tag is the same here.
    pub run: Run,
    /// Chunk.
    pub sequence: u8,
    /// Shape, with the next; all frames of a chunk have the same length here.
    pub exponent: Exponent,
    /// Whether it is the last chunk of the tensor.
    pub last: bool,
    /// Contributors; empty: never used.
    pub seen: Ranks,
    /// Workers that repeated since the complete partial last left; empty while it is incomplete.
    pub asked: Ranks,
    /// Whether a sum saturated, or an input had the flag.
    pub overflow: bool,
    /// The values.
    pub sum: Sum,
    /// Tofino's; zeros elsewhere.
    pub tofino: Registers,
}

impl Slot {
    /// Returns the contents of the slot with a frame: the greater size, an undefined value for floats,
    /// otherwise the sum.
    #[must_use]
    pub(crate) fn plus(&self, mutant: Option<Mutant>, frame: &Contribution, stays_at_limit: bool) -> Sum {
        if self.exponent == Exponent::Maxima && mutant != Some(Mutant::MaximaAddedUp) {
            let forgets = mutant == Some(Mutant::SlotMaximumForgets);
            return if forgets { frame.sum } else { self.sum.max(frame.sum) };
        }
        if self.exponent == Exponent::Floats {
            // The sum of the bits of floats is no float's.
            return Sum::default();
        }
        self.sum.plus_within_limits(frame.sum, stays_at_limit)
    }

    /// Returns the slot without repeats.
    #[must_use]
    pub fn without_askers(self) -> Self {
        Self { asked: 0, tofino: Registers { parity: false, owed: 0, ..self.tofino }, ..self }
    }
}

/// The slots of the job's range.
pub type Slots = [Slot; MAX_WINDOW as usize];

/// Returns the slot of a chunk, counted from the first range's base. The range of the plan version that hosts
/// move to follows.
pub fn slot_of(config: &Config, run: Run, sequence: u8) -> usize {
    let base = if run == Run::Moved { config.window } else { 0 };
    usize::from(base + (sequence & (config.window - 1)))
}

/// Returns the slot of a switch's second pass that belongs to one of the first.
pub fn second_pass(slot: usize) -> usize {
    slot + usize::from(MAX_WINDOW) / 2
}

/// Registers of a slot that only the program for Tofino has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registers {
    /// Mark of the slot's owner.
    pub mark: u8,
    /// The chunk that took it. The slot's own `sequence` is a copy for the exact check.
    pub marked: u8,
    /// Whether a partial was sent an odd number of times since it was complete: a repeat is answered if the
    /// worker's bit of `asked`, which each of its repeats flips, is equal.
    pub parity: bool,
    /// Not a register: workers with an unanswered repeat since the partial last left.
    pub owed: Ranks,
}
