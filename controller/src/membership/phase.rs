//! Phases of a job, and orders.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::stop_point::StopPoint;

/// Order to the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Announcement of an ending to the members of the view, in place of the previous one.
    Announce(Ending),
    /// Formation of a view for these hosts: plan and install it, then report the outcome to
    /// [`Membership::formed`](super::Membership::formed).
    Form(Formation),
}

/// Hosts of a view to be planned, each kind in the order of the topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formation {
    /// Workers with their incarnations; a worker's rank is its position.
    pub workers: Vec<(String, Incarnation)>,
    /// Servers with their incarnations.
    pub servers: Vec<(String, Incarnation)>,
}

/// Host that waits for a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attendance {
    pub incarnation: Incarnation,
    pub rounds: u64,
    pub must_load_state: bool,
    /// Time of its last request.
    pub asked_at: Duration,
}

/// Other incarnation of a connected host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub incarnation: Incarnation,
    /// Times of its first and its last request.
    pub since: Duration,
    pub asked_at: Duration,
}

/// Phase of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No view: it starts when all hosts are connected, or from `until` on when a worker and a server are.
    Gathering { until: Duration },
    /// View being planned and installed.
    Forming(Formation),
    /// Active view.
    Running,
    /// Active view whose workers agree on its stop point.
    Bounded(StopPoint),
    /// Ended view whose members rejoin.
    Leaving(Leaving),
    /// Finished job: all workers have done their last round.
    Finished { rounds: u64 },
}

/// View that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    /// Start of this step.
    pub since: Duration,
    /// Whether a worker has left within a tensor.
    pub is_broken: bool,
    /// Whether all workers have rejoined or timed out, and the servers are waited for.
    pub servers: bool,
}
