//! Rendezvous of elastic jobs.

use std::collections::BTreeMap;
use std::time::Instant;

use inart_controller_api::{Ending, ViewMembership};
use inart_wire::JobId;

use crate::membership::{Membership, Roster};

/// Rendezvous of all elastic jobs.
pub(super) struct Rendezvous {
    pub started: Instant,
    pub jobs: BTreeMap<JobId, Membership>,
    pub rosters: BTreeMap<JobId, Roster>,
    /// Open instruction streams of members.
    pub streams: BTreeMap<(JobId, String, u32), usize>,
}

impl Rendezvous {
    pub fn new() -> Self {
        let (jobs, rosters, streams) = Default::default();
        Self { started: Instant::now(), jobs, rosters, streams }
    }
}

/// Answer to a host that requests a view.
pub(crate) enum Answered {
    Admitted(ViewMembership),
    Waiting(String),
}

/// Answer of a member to an ending of its view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndingAnswer {
    pub ending: Ending,
    pub started: u32,
    pub is_holding: bool,
}
