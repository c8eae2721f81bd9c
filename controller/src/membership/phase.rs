//! What a job is at, and what is to be done.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::boundary::Boundary;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The members of the run are told this about its end, in place of what they were told before.
    Tell(Ending),
    /// A run is to be planned and installed for these hosts. The outcome is told to
    /// [`Membership::formed`](super::Membership::formed).
    Form(Formation),
}

/// For whom a run is to be planned, each kind in the order of the topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formation {
    /// The workers with their lives; a worker's rank is its place.
    pub workers: Vec<(String, Incarnation)>,
    /// The servers with their lives.
    pub servers: Vec<(String, Incarnation)>,
}

/// A host that waits for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attendance {
    pub life: Incarnation,
    pub rounds: u64,
    pub loading: bool,
    /// When it asked last.
    pub heard: Duration,
}

/// Another life of a host that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub life: Incarnation,
    /// When it asked first, and last.
    pub since: Duration,
    pub heard: Duration,
}

/// What the job is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is no run: it begins when all hosts are there, or from that moment on when a worker and a server
    /// are.
    Gathering { until: Duration },
    /// A run is being planned and installed.
    Forming(Formation),
    /// A run goes on.
    Running,
    /// It goes on, and its workers agree where it ends.
    Bounded(Boundary),
    /// It has ended, and its members come back.
    Leaving(Leaving),
    /// All workers have done their last round.
    Finished { rounds: u64 },
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    /// When this step began.
    pub since: Duration,
    /// Whether a worker has left in the middle of a tensor.
    pub is_broken: bool,
    /// Whether all workers are there or given up, and the servers are waited for.
    pub servers: bool,
}
