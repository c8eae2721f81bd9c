//! Errors at the start of a round.

use crate::policy::PolicyError;

/// Error that prevents the start of a round.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// Round that is not later.
    #[error("round {asked} cannot begin after round {current}; rounds count up")]
    Round {
        /// Requested round.
        asked: u32,
        /// Last round that started.
        current: u32,
    },
    /// Older policy.
    #[error("policy {asked} is older than the active policy {current}; send the newest")]
    Older {
        /// Requested version.
        asked: u64,
        /// Active version.
        current: u64,
    },
    /// Policy without this site.
    #[error("policy {version} does not list site {site}, which begins a round with it; add it")]
    Absent {
        /// Version of the policy.
        version: u64,
        /// The site.
        site: u16,
    },
    /// Request for the next round while this one is active.
    #[error("round {round} is running; begin the next one when this site has every sum")]
    GoesOn {
        /// The round.
        round: u32,
    },
    /// Request for the next round before the first.
    #[error("no round has begun; begin the first one by a policy that all sites have")]
    NotBegun,
    /// Agreed policy that was never offered to this site.
    #[error("the next round follows policy {version}, which site {site} does not hold; offer it")]
    NotHeld {
        /// Version of the policy.
        version: u64,
        /// The site.
        site: u16,
    },
    /// Inconsistent policy.
    #[error(transparent)]
    TransmissionPolicy(#[from] PolicyError),
}
