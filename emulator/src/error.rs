//! Why an emulation ends without figures.

use std::io;

use inart_controller::PortsError;
use inart_planner_aggregation::PlanError;
use inart_protocol_aggregation::audit::Mismatch;
use inart_targets::{ProgramError, SwitchError};
use inart_training::ConfigError;

use crate::aggregation::abort::AbortReport;
use crate::aggregation::program::RankEnd;
use crate::machine::wiring::WiringError;

/// Why an emulation ends without figures, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that is refused.
    #[error("{option}: {problem}")]
    Option {
        /// The setting, by its name in [`Options`](crate::Options).
        option: &'static str,
        /// Description of the problem, and the fix.
        problem: String,
    },
    /// The system would refuse an emulation.
    #[error("{problem}")]
    NotAllowed {
        /// Description of the missing part, and the fix.
        problem: String,
    },
    /// The faults make no sense on this network.
    #[error(transparent)]
    Faults(#[from] inart_topologies::faults::Error),
    /// No plan for a job.
    #[error("scheme {scheme}: {cause}")]
    Plan {
        /// The scheme.
        scheme: String,
        /// Why.
        cause: PlanError,
    },
    /// The topology is too large.
    #[error(transparent)]
    Ports(#[from] PortsError),
    /// The compiled program cannot be used.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The training cannot be set up.
    #[error(transparent)]
    Training(#[from] ConfigError),
    /// The network cannot be built.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// The system refused something.
    #[error("cannot {what}: {cause}")]
    System {
        /// The action that failed.
        what: String,
        /// Error of the system.
        cause: io::Error,
    },
    /// A switch cannot be asked.
    #[error("switch {switch}: {cause}")]
    Switch {
        /// The switch.
        switch: String,
        /// Why.
        cause: Box<SwitchError>,
    },
    /// The controller cannot install the plans.
    #[error("the controller: {why}")]
    Controller {
        /// Last output of the process.
        why: String,
    },
    /// A job was aborted because of a fault of the schedule.
    #[error("{0}")]
    Aborted(Box<AbortReport>),
    /// A switch, worker or server ended before its time, or nothing is heard of any.
    #[error("{who}: {why}")]
    Failed {
        /// Name of the process.
        who: String,
        /// Last output of the process.
        why: String,
    },
    /// A sum was wrong.
    #[error("wrong sum under scheme {scheme}, job {job}: {mismatch}")]
    Mismatch {
        /// The scheme.
        scheme: String,
        /// The job.
        job: String,
        /// Where, and what.
        mismatch: Box<Mismatch>,
    },
    /// A rank of a user's program failed.
    #[error("{0}")]
    Rank(Box<RankEnd>),
    /// A signal with this number ended the emulation.
    #[error("interrupted; all ranks were ended")]
    Interrupted(i32),
    /// Every sum was right, yet workers ended with different weights.
    #[error("scheme {scheme}, job {job}: worker {worker} ended with other weights than the first worker")]
    Diverged {
        /// The scheme.
        scheme: String,
        /// The job.
        job: String,
        /// The worker.
        worker: String,
    },
}

impl Error {
    /// Returns whether the emulation ran and failed; otherwise its options were impossible.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Failed { .. }
                | Self::Aborted(_)
                | Self::Mismatch { .. }
                | Self::Diverged { .. }
                | Self::Rank(_)
                | Self::Switch { .. }
        )
    }

    /// For `map_err` on system calls.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::System { what: what.into(), cause }
    }
}
