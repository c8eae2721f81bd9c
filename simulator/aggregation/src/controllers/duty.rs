//! Settings that hosts of a job use.

use std::collections::{BTreeMap, BTreeSet};

use inart_tables::{PortNo, ResultsKey, SteerAction, SteerKey, SwitchTables};
use inart_wire::{JobId, PlanVersion};
use tokio::time::Instant;

/// Rows of a job under a plan version on one switch; of gradients, whether they are summed and by which port
/// they leave.
pub(super) struct Rows {
    steer: BTreeSet<(SteerKey, bool, PortNo)>,
    results: BTreeSet<ResultsKey>,
}

/// Settings that hosts of a job use.
pub(super) struct Duty {
    pub job: JobId,
    pub plan_version: PlanVersion,
    /// Machine whose records know the plan version.
    pub machine: usize,
    /// The controller that assigned it first.
    pub by: usize,
    pub since: Instant,
    /// Rows, by switch.
    pub rows: BTreeMap<String, Rows>,
}

impl Rows {
    pub fn of(tables: &SwitchTables, job: JobId, plan_version: PlanVersion) -> Self {
        let steer = tables.steer.iter().filter(|(key, _)| (key.job, key.plan_version) == (job, plan_version));
        let results = tables.results.keys().filter(|key| (key.job, key.plan_version) == (job, plan_version));
        let step = |(key, action): (&SteerKey, &SteerAction)| match action {
            SteerAction::Forward { port, .. } => Some((*key, false, *port)),
            SteerAction::Add { port, .. } => Some((*key, true, *port)),
            SteerAction::Refuse => None,
        };
        Rows { steer: steer.filter_map(step).collect(), results: results.copied().collect() }
    }

    pub fn are_in(&self, others: &Self) -> bool {
        self.steer.is_subset(&others.steer) && self.results.is_subset(&others.results)
    }
}
