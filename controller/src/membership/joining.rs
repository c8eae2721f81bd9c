//! What hosts that ask for a view say, and what they are answered.

use inart_topologies::units::counted;
use inart_wire::{Incarnation, PlanVersion};

use super::view::ViewMembership;

/// What a host says that asks for a view. It asks again and again until it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Its name in the topology.
    pub host: String,
    /// Its life: another one for each process.
    pub incarnation: Incarnation,
    /// The view that it was in last, if any.
    pub last: Option<PlanVersion>,
    /// The tensor before which it left that view, if all had agreed on it; else it left in the middle of one.
    pub stop_point: Option<u32>,
    /// Of a worker, how many rounds are in the state that it holds.
    pub rounds: u64,
    /// Of a worker, whether it still has to load the state of another one.
    pub must_load_state: bool,
}

/// The answer to a host that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Its view has begun.
    Seated(ViewMembership),
    /// It is to ask again, within [`Timing::gone_after`](super::Timing::gone_after). This is what is waited
    /// for, in words.
    Waiting(String),
}

/// Why a host cannot take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The job has no such host.
    #[error("job {job} has no host {host}: give one of {hosts}")]
    Stranger {
        /// The job.
        job: String,
        /// What was asked for.
        host: String,
        /// Those that it has.
        hosts: String,
    },
    /// A host must have an incarnation to be told from itself after a restart.
    #[error("{host}: incarnation 0 is reserved; use a random non-zero value")]
    NoIncarnation {
        /// The host.
        host: String,
    },
    /// There is another host of that name.
    #[error("{host} of job {job} is already running (same name, different incarnation); stop one of them")]
    Taken {
        /// The job.
        job: String,
        /// The host.
        host: String,
    },
    /// The host contradicts itself.
    #[error("{host} reported {} after reporting {before}; restart it", counted(*now, "completed round"))]
    Backwards {
        /// The host.
        host: String,
        /// What it said.
        before: u64,
        /// What it says.
        now: u64,
    },
    /// The job is done.
    #[error(
        "job {job} is done after {}: to run it again, restart the controller with a new plan version, and all hosts",
        counted(*rounds, "round")
    )]
    Finished {
        /// The job.
        job: String,
        /// Its rounds.
        rounds: u64,
    },
}
