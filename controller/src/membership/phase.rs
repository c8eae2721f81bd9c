//! What a job is at, and what is to be done.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::stop_point::StopPoint;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The members of the view are told this about its end, in place of what they were told before.
    Tell(Ending),
    /// A view is to be planned and installed for these hosts. The outcome is told to
    /// [`Membership::formed`](super::Membership::formed).
    Form(Formation),
}

/// For whom a view is to be planned, each kind in the order of the topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formation {
    /// The workers with their incarnations; a worker's rank is its place.
    pub workers: Vec<(String, Incarnation)>,
    /// The servers with their incarnations.
    pub servers: Vec<(String, Incarnation)>,
}

/// A host that waits for a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attendance {
    pub incarnation: Incarnation,
    pub rounds: u64,
    pub must_load_state: bool,
    /// When it asked last.
    pub heard: Duration,
}

/// Another incarnation of a host that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub incarnation: Incarnation,
    /// When it asked first, and last.
    pub since: Duration,
    pub heard: Duration,
}

/// What the job is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is no view: it begins when all hosts are there, or from that moment on when a worker and a
    /// server are.
    Gathering { until: Duration },
    /// A view is being planned and installed.
    Forming(Formation),
    /// A view goes on.
    Running,
    /// It goes on, and its workers agree where it ends.
    Bounded(StopPoint),
    /// It has ended, and its members come back.
    Leaving(Leaving),
    /// All workers have done their last round.
    Finished { rounds: u64 },
}

/// A view that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    /// When this step began.
    pub since: Duration,
    /// Whether a worker has left in the middle of a tensor.
    pub is_broken: bool,
    /// Whether all workers are there or given up, and the servers are waited for.
    pub servers: bool,
}
