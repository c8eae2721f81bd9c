//! Where a site is, and what it keeps of others.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_sites::{Ask, Parcel, SiteNo, TransmissionPolicy};

use crate::gradient::ChunkSum;
use crate::state::TrainingState;

/// Where a site is in its incarnation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    /// It waits for its neighbours.
    Meeting,
    /// It has asked a neighbour for the state.
    Joining { asked: SiteNo, since: Duration },
    /// The training program computes.
    Ready { round: u32, join: Option<Arc<TransmissionPolicy>> },
    /// It has a gradient, and not the policy that the sites have agreed on.
    Lacks { version: u64, gradient: Vec<f32> },
    /// A round is under way.
    Reducing,
    /// It has all sums of the last round.
    Finished { training: TrainingState },
    /// It cannot go on.
    Over,
}

/// What a site warns of, once per peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Warning {
    Terms,
    Sender,
    Way,
    Plan,
    Link,
}

/// Whether the connected scheduler has this site's terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SchedulerTerms {
    /// Not known: no hello has arrived.
    #[default]
    Unknown,
    Equal,
    /// Other terms: the site refuses the plans.
    Different,
}

/// What a site that joins needs of a round.
#[derive(Debug, Clone)]
pub(super) struct RoundStart {
    pub(super) round: u32,
    pub(super) policy: Arc<TransmissionPolicy>,
}

/// Where a neighbour said it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heard {
    /// None before its first round.
    pub(super) round: Option<u32>,
    /// The policy of that round.
    pub(super) version: u64,
    pub(super) is_finished: bool,
}

/// A chunk that a link was given.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) next: SiteNo,
    pub(super) parcel: Parcel<ChunkSum>,
    pub(super) tag: i32,
}

/// A message that waits for a link to come up for the first time.
#[derive(Debug)]
pub(super) enum Passing {
    Chunk(Parcel<ChunkSum>),
    Question(Ask),
}
