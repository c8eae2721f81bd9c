//! What can be wrong with the beginning of a round.

use crate::policy::PolicyError;

/// Why a round cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// Not a later round.
    #[error("round {asked} cannot begin after round {current}; rounds count up")]
    Round {
        /// The round that is to begin.
        asked: u32,
        /// The last one that began.
        current: u32,
    },
    /// An older policy.
    #[error("policy {asked} is older than the active policy {current}; send the newest")]
    Older {
        /// The version given.
        asked: u64,
        /// The version in force.
        current: u64,
    },
    /// A policy without this site.
    #[error("policy {version} does not list site {site}, which begins a round with it; add it")]
    Absent {
        /// Its version.
        version: u64,
        /// The site.
        site: u16,
    },
    /// The next round is asked for while this one goes on.
    #[error("round {round} is running; begin the next one when this site has every sum")]
    GoesOn {
        /// The round.
        round: u32,
    },
    /// The next round is asked for before the first.
    #[error("no round has begun; begin the first one by a policy that all sites have")]
    NotBegun,
    /// The sites agreed on a policy that this one was never offered.
    #[error("the next round follows policy {version}, which site {site} does not hold; offer it")]
    NotHeld {
        /// Its version.
        version: u64,
        /// The site.
        site: u16,
    },
    /// A policy that does not hold together.
    #[error(transparent)]
    TransmissionPolicy(#[from] PolicyError),
}
