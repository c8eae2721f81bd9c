//! Where the changes of plans of a run are.

use std::collections::BTreeMap;

use inart_protocol_aggregation::Assignment;
use inart_tables::SwitchTables;
use inart_wire::PlanVersion;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::event_queue::ProcessId;

/// Where the changes of a run are.
pub(crate) struct Changing {
    /// A stream of its own, so that the same moments are drawn whatever else happens.
    pub rng: ChaCha8Rng,
    /// For switches that refuse: a stream of its own, too.
    pub refuser: ChaCha8Rng,
    /// What every switch holds.
    pub tables: BTreeMap<String, SwitchTables>,
    /// By job: the plan version so far, and the one that it changes to.
    pub now: Vec<Assignment>,
    pub next: Vec<Assignment>,
    /// By job: the newest plan version that there ever was.
    pub newest: Vec<PlanVersion>,
    /// Whether workers follow their servers in the present change.
    pub coordinated: bool,
    /// Hosts are told within so many nanoseconds.
    pub told_within: u64,
    /// Changes that have begun.
    pub begun: u32,
    /// Changes that are over, and those of them that were undone.
    pub done: u32,
    pub undone: u32,
    pub undoing: bool,
    /// Who is told something now, and is yet to be told.
    pub told: Vec<ProcessId>,
    pub waiting: usize,
    /// Since when the results of the workers that have not followed are so many.
    pub progress: (u64, u64),
    /// When the first began and what the slowest worker of each job had then; the same when the last was
    /// over.
    pub began: Option<(u64, Vec<u64>)>,
    pub over: Option<(u64, Vec<u64>)>,
}

impl Changing {
    pub fn new(tables: BTreeMap<String, SwitchTables>, assignments: &[Assignment], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut refuser = rng.clone();
        rng.set_stream(3);
        refuser.set_stream(4);
        Self {
            rng,
            refuser,
            tables,
            now: assignments.to_vec(),
            next: Vec::new(),
            newest: assignments.iter().map(|assignment| assignment.plan_version).collect(),
            coordinated: false,
            told_within: 0,
            begun: 0,
            done: 0,
            undone: 0,
            undoing: false,
            told: Vec::new(),
            waiting: 0,
            progress: (0, 0),
            began: None,
            over: None,
        }
    }
}
