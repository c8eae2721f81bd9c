//! State of the plan changes of a run.

use std::collections::BTreeMap;

use inart_protocol_aggregation::Assignment;
use inart_tables::SwitchTables;
use inart_wire::PlanVersion;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::event_queue::ProcessId;

/// State of the plan changes of a run.
pub(crate) struct Changing {
    /// Separate random stream, so that the draws of moments do not depend on other events.
    pub rng: ChaCha8Rng,
    /// Separate random stream for refusing switches.
    pub refuser: ChaCha8Rng,
    /// Tables of every switch.
    pub tables: BTreeMap<String, SwitchTables>,
    /// Current and next assignment, by job.
    pub now: Vec<Assignment>,
    pub next: Vec<Assignment>,
    /// Newest plan version ever used, by job.
    pub newest: Vec<PlanVersion>,
    /// Whether servers coordinate the cut-over of the active change.
    pub coordinated: bool,
    /// Longest notification delay, in nanoseconds.
    pub notify_within: u64,
    /// Number of changes started.
    pub begun: u32,
    /// Changes that are over, and those of them that were undone.
    pub done: u32,
    pub undone: u32,
    pub undoing: bool,
    /// Processes of the current notification, and those not notified yet.
    pub notified: Vec<ProcessId>,
    pub waiting: usize,
    /// Time of the last progress, and number of results then, of workers that have not migrated.
    pub progress: (u64, u64),
    /// Start of the first change with the results of the slowest worker of each job then, and the same for
    /// the end of the last change.
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
            notify_within: 0,
            begun: 0,
            done: 0,
            undone: 0,
            undoing: false,
            notified: Vec::new(),
            waiting: 0,
            progress: (0, 0),
            began: None,
            over: None,
        }
    }
}
