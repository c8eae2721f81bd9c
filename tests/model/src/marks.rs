//! Tofino's marks: hashes of tags.

use crate::run::Run;

/// Runs with the same mark: the hash of a tag by which the first stage detects a slot of another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Marks {
    /// None.
    Apart,
    /// All.
    Alike,
    /// All runs, with the mark of an unused slot.
    Zero,
}

impl Marks {
    pub(crate) fn of(self, run: Run) -> u8 {
        match self {
            Self::Apart => 1 + run as u8,
            Self::Alike => 1,
            Self::Zero => 0,
        }
    }
}
