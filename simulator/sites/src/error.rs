//! Why a simulation cannot be, or has failed.

use inart_sites_agent::{DriverError, SetupError};

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
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
    /// A site that ended by something else than the cause.
    #[error("site {site} ended by \"{told}\", which does not name the cause, {cause}; this is a defect")]
    Culprit {
        /// Which site.
        site: String,
        /// What it says.
        told: String,
        /// The site because of which the training ends.
        cause: String,
    },
    /// A site that began to train though a site has other settings.
    #[error("site {site} has the sum of round 1 though the settings of {cause} differ; this is a defect")]
    Unnoticed {
        /// Which site.
        site: String,
        /// The site with the other setting.
        cause: String,
    },
    /// A site that does not stop to want something.
    #[error("site {site} never has nothing to do; this is a defect")]
    Busy {
        /// Which site.
        site: String,
    },
    /// A site that loaded something else than the state of the others.
    #[error("site {site} loaded a state that is not that before round {round}; this is a defect")]
    State {
        /// Which site.
        site: String,
        /// Which round.
        round: u32,
    },
    /// A site that follows a plan that it had to refuse.
    #[error(
        "site {site}, round {round}: it follows a plan of a scheduler with another document, or of a neighbor; this is a defect"
    )]
    Plan {
        /// Which site.
        site: String,
        /// Which round.
        round: u32,
    },
    /// A site that keeps more early chunks than a round has.
    #[error("site {site} has kept {kept} early chunks, of {most} that were sent; this is a defect")]
    Early {
        /// Which site.
        site: String,
        /// How many it has kept.
        kept: u64,
        /// How many different ones neighbors sent it.
        most: u64,
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
