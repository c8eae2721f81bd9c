//! The rendezvous of elastic jobs, and what is said there.

use std::collections::BTreeMap;
use std::time::Instant;

use inart_controller_api::{Ending, ViewMembership};
use inart_wire::JobId;

use crate::membership::{Membership, Roster};

/// The rendezvous of all elastic jobs.
pub(super) struct Rendezvous {
    pub started: Instant,
    pub jobs: BTreeMap<JobId, Membership>,
    pub rosters: BTreeMap<JobId, Roster>,
    /// Open connections of members.
    pub streams: BTreeMap<(JobId, String, u32), usize>,
}

impl Rendezvous {
    pub fn new() -> Self {
        let (jobs, rosters, streams) = Default::default();
        Self { started: Instant::now(), jobs, rosters, streams }
    }
}

/// What a host that asks for a run is answered.
pub(crate) enum Answered {
    Seated(ViewMembership),
    Waiting(String),
}

/// What a member says of its run's end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SaidOfEnd {
    pub ending: Ending,
    pub started: u32,
    pub is_holding: bool,
}
