//! Tofino's marks: hashes of tags.

use crate::run::Run;

/// Which runs have the same mark: the hash of a tag that says in the first stage whether a slot is another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Marks {
    /// None.
    Apart,
    /// All.
    Alike,
    /// All, and it is that of a slot that nobody used.
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
