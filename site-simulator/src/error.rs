//! Why a simulation cannot be, or has failed.

use inart_site_agent::{DriverError, SetupError};

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A fault of something that there is not.
    #[error("event {number}: {problem}; {fix}")]
    Fault {
        /// Which event, from 1.
        number: usize,
        /// What is wrong.
        problem: String,
        /// What to write.
        fix: &'static str,
    },
    /// Faults that are for networks of switches only.
    #[error("`{section}` is of networks of switches; on a network of sites a schedule has `events` only")]
    Section {
        /// The section of the schedule.
        section: &'static str,
    },
    /// Options that no site can be set up with.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A site that cannot go on.
    #[error("site {site}: {error}; this is a defect")]
    Site {
        /// Which.
        site: String,
        /// What it says.
        error: DriverError,
    },
    /// A sum that is not that of the gradients.
    #[error("site {site}, round {round}: the sum differs from that of all gradients; this is a defect")]
    Sum {
        /// Which site.
        site: String,
        /// Which round.
        round: u32,
    },
    /// Rounds that do not end.
    #[error("round {round} has not ended after {seconds:.0} s without an event of the schedule: {told}")]
    Stuck {
        /// The round that the last site is in.
        round: u32,
        /// How long nothing has ended.
        seconds: f64,
        /// Where the sites are.
        told: String,
    },
}
