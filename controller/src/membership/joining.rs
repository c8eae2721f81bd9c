//! Join requests and their answers.

use inart_topologies::units::counted;
use inart_wire::{Incarnation, PlanVersion};

use super::view::ViewMembership;

/// Request for a view. Hosts repeat it until they get one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Name of the host in the topology.
    pub host: String,
    /// Incarnation of the process.
    pub incarnation: Incarnation,
    /// Last view of the host, if any.
    pub last: Option<PlanVersion>,
    /// Stop point at which the host left that view, if all workers had agreed on it; else it left within a
    /// tensor.
    pub stop_point: Option<u32>,
    /// Rounds in the state of a worker.
    pub rounds: u64,
    /// Whether a worker must load the state of another one.
    pub must_load_state: bool,
}

/// Answer to a join request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Membership in a view that has started.
    Admitted(ViewMembership),
    /// Request to ask again within [`Timing::gone_after`](super::Timing::gone_after), with what the job
    /// waits for, in words.
    Waiting(String),
}

/// Why a host cannot join.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Unknown host.
    #[error("job {job} has no host {host}: give one of {hosts}")]
    UnknownHost {
        /// Name of the job.
        job: String,
        /// Name in the request.
        host: String,
        /// Hosts of the job.
        hosts: String,
    },
    /// Missing incarnation, which distinguishes a host from itself after a restart.
    #[error("{host}: incarnation 0 is reserved; use a random non-zero value")]
    NoIncarnation {
        /// Name of the host.
        host: String,
    },
    /// Another host with the name.
    #[error("{host} of job {job} is already running (same name, different incarnation); stop one of them")]
    NameInUse {
        /// Name of the job.
        job: String,
        /// Name of the host.
        host: String,
    },
    /// Contradiction between two requests.
    #[error("{host} reported {} after reporting {before}; restart it", counted(*now, "completed round"))]
    Backwards {
        /// Name of the host.
        host: String,
        /// Rounds in the earlier request.
        before: u64,
        /// Rounds in this request.
        now: u64,
    },
    /// Finished job.
    #[error(
        "job {job} is done after {}: to run it again, restart the controller with a new plan version, and all hosts",
        counted(*rounds, "round")
    )]
    Finished {
        /// Name of the job.
        job: String,
        /// Number of its rounds.
        rounds: u64,
    },
}
