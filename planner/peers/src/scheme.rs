//! The names of schemes.

use std::fmt;

/// A scheme for choosing receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Optimized: the least time for equal updates, and close to a proven bound for unequal ones.
    Optimized,
    /// SELMCAST: the lightest ports first.
    Selmcast,
    /// Orpheus: at random.
    Orpheus,
    /// The least time, then the most receivers.
    Optimal,
    /// User-defined receivers.
    Own,
}

impl Scheme {
    /// All schemes that choose receivers themselves.
    pub const ALL: [Scheme; 4] = [Scheme::Optimized, Scheme::Selmcast, Scheme::Orpheus, Scheme::Optimal];

    /// Returns the name on the command line and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Optimized => "optimized",
            Scheme::Selmcast => "selmcast",
            Scheme::Orpheus => "orpheus",
            Scheme::Optimal => "optimal",
            Scheme::Own => "own",
        }
    }

    /// Returns a description in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Scheme::Optimized => "ours: least time for equal updates, near a proven bound for unequal ones",
            Scheme::Selmcast => "SELMCAST: least loaded ports first, then every receiver that costs no time",
            Scheme::Orpheus => "Orpheus: receivers at random",
            Scheme::Optimal => "least time, then the most receivers; unequal updates on small networks only",
            Scheme::Own => "receivers that a user has chosen",
        }
    }

    /// Returns the scheme of that name that chooses receivers itself.
    pub fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Returns the scheme that a plan names: one of that name, or [`Scheme::Own`].
    pub fn of_plan(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().chain([Scheme::Own]).find(|scheme| scheme.name() == name)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
