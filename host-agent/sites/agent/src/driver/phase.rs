//! Phase of a site, and state that it keeps of other sites.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_sites::{Ask, ChunkTransfer, SiteNo, TransmissionPolicy};

use crate::gradient::ChunkSum;
use crate::state::TrainingState;

/// Phase of a site in its incarnation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    /// Waiting for the hellos of its neighbors.
    Meeting,
    /// Waiting for the state that a neighbor was asked for.
    Joining { asked: SiteNo, since: Duration },
    /// Waiting for the training program to compute.
    Ready { round: u32, join: Option<Arc<TransmissionPolicy>> },
    /// Waiting, with a gradient, for the policy that the sites agreed on.
    Lacks { version: u64, gradient: Vec<f32> },
    /// Reducing a round.
    Reducing,
    /// Finished: the site has all sums of the last round.
    Finished { training: TrainingState },
    /// Failed or ended.
    Over,
}

/// Subjects of warnings; each is logged once per peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Warning {
    Terms,
    Sender,
    Route,
    Plan,
    Link,
}

/// Whether the connected scheduler has this site's terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SchedulerTerms {
    /// Unknown: no hello has arrived.
    #[default]
    Unknown,
    Equal,
    /// Other terms: the site refuses the plans.
    Different,
}

/// Data about a round for a site that joins.
#[derive(Debug, Clone)]
pub(super) struct RoundStart {
    pub(super) round: u32,
    pub(super) policy: Arc<TransmissionPolicy>,
}

/// Last reported position of a neighbor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heard {
    /// Round of the neighbor; `None` before its first round.
    pub(super) round: Option<u32>,
    /// Policy version of that round.
    pub(super) version: u64,
    pub(super) is_finished: bool,
}

/// Chunk that was handed to a link.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) next: SiteNo,
    pub(super) transfer: ChunkTransfer<ChunkSum>,
    pub(super) tag: i32,
}

/// Message that waits for a link to come up for the first time.
#[derive(Debug)]
pub(super) enum Passing {
    Chunk(ChunkTransfer<ChunkSum>),
    Request(Ask),
}
