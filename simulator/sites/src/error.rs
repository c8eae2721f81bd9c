//! Errors of a simulation.

use inart_sites_agent::{DriverError, SetupError};

/// Invalid options, or a defect that a simulation found.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// Options that are invalid for every site.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Failure of a site.
    #[error("site {site}: {error}; this is a defect")]
    Site {
        /// The site.
        site: String,
        /// Error of the site.
        error: DriverError,
    },
    /// Sum that differs from that of the gradients.
    #[error("site {site}, round {round}: the sum differs from that of all gradients; this is a defect")]
    Sum {
        /// The site.
        site: String,
        /// The round.
        round: u32,
    },
    /// End of a site with an error that does not name the cause.
    #[error("site {site} ended by \"{error}\", which does not name the cause, {cause}; this is a defect")]
    Culprit {
        /// The site.
        site: String,
        /// Error of the site.
        error: String,
        /// Site that caused the end of the training.
        cause: String,
    },
    /// Site that started to train although another site has other settings.
    #[error("site {site} has the sum of round 1 though the settings of {cause} differ; this is a defect")]
    Unnoticed {
        /// The site.
        site: String,
        /// Site with the other setting.
        cause: String,
    },
    /// Site that returns outputs without end.
    #[error("site {site} returns outputs without end; this is a defect")]
    Busy {
        /// The site.
        site: String,
    },
    /// Site that loaded a state that differs from the others'.
    #[error("site {site} loaded a state that is not that before round {round}; this is a defect")]
    State {
        /// The site.
        site: String,
        /// The round.
        round: u32,
    },
    /// Site that follows a plan that it must refuse.
    #[error(
        "site {site}, round {round}: it follows a plan of a scheduler with another document, or of a neighbor; this is a defect"
    )]
    Plan {
        /// The site.
        site: String,
        /// The round.
        round: u32,
    },
    /// Site that keeps more early chunks than a round has.
    #[error("site {site} has kept {kept} early chunks, of {most} that were sent; this is a defect")]
    Early {
        /// The site.
        site: String,
        /// Number of chunks that it has kept.
        kept: u64,
        /// Number of different chunks that neighbors sent to it.
        most: u64,
    },
    /// Rounds that do not end.
    #[error("round {round} has not ended after {seconds:.0} s without an event of the schedule: {error}")]
    Stuck {
        /// Round of the last site.
        round: u32,
        /// Time since the last end of a round, in seconds.
        seconds: f64,
        /// Phases of the sites.
        error: String,
    },
}
