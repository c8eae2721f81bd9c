//! The runs of an elastic job: in each, other workers maybe, and sums of their own.

use std::collections::{BTreeMap, BTreeSet};

use inart_host_agent::report::{Role, RoundReport};
use inart_protocol_aggregation::Assignment;
use inart_protocol_aggregation::audit::Mismatch;
use inart_wire::Rank;

use crate::aggregation::auditor::{AuditedSum, Auditor};

/// The runs of an elastic job.
#[derive(Debug, Default)]
pub struct Runs {
    /// By the plan version that each began with.
    runs: BTreeMap<u16, (Assignment, Auditor)>,
    /// By a worker's place in the topology's list: the run that it is in, and its rank there.
    places: BTreeMap<usize, (u16, Rank)>,
    /// Hosts that were killed and not started again.
    gone: BTreeSet<(bool, u16)>,
}

fn key(role: Role) -> (bool, u16) {
    match role {
        Role::Worker(_, rank) => (false, rank.get()),
        Role::Server(_, shard) => (true, shard.get()),
    }
}

impl Runs {
    /// The worker in that place of the topology's list begins a run, with that rank.
    pub fn begin(&mut self, place: Rank, assignment: Assignment, rank: Rank) {
        let run = assignment.plan_version.get();
        self.places.insert(place.index(), (run, rank));
        let auditor = Auditor::new(assignment.workers.len());
        self.runs.entry(run).or_insert((assignment, auditor));
    }

    /// Takes in what that worker reports of a sum.
    ///
    /// # Errors
    /// The first difference, if it is the last to report and the sum is wrong.
    pub fn take(&mut self, place: Rank, report: RoundReport) -> Result<(), Box<Mismatch>> {
        let Some((run, rank)) = self.places.get(&place.index()) else { return Ok(()) };
        let Some((assignment, auditor)) = self.runs.get_mut(run) else { return Ok(()) };
        auditor.take(assignment, None, *rank, report)
    }

    /// Returns the number of workers in the run of that worker.
    pub fn workers(&self, place: Rank) -> Option<usize> {
        let (run, _) = self.places.get(&place.index())?;
        Some(self.runs.get(run)?.0.workers.len())
    }

    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// Returns the correct sums of gradients of that length; sums of loaded states have other lengths.
    pub fn audited(&self, gradient_len: usize) -> impl Iterator<Item = &AuditedSum> {
        let all = self.auditors().flat_map(Auditor::audited);
        all.filter(move |sum| sum.values == gradient_len)
    }

    /// Returns the auditor of each run.
    pub fn auditors(&self) -> impl Iterator<Item = &Auditor> {
        self.runs.values().map(|(_, auditor)| auditor)
    }

    /// A host was killed, or started again.
    pub fn set_gone(&mut self, role: Role, gone: bool) {
        match gone {
            true => self.gone.insert(key(role)),
            false => self.gone.remove(&key(role)),
        };
    }

    /// Returns whether the worker, or the server, with that index has left.
    pub fn is_gone(&self, is_server: bool, place: usize) -> bool {
        self.gone.iter().any(|(server, index)| *server == is_server && usize::from(*index) == place)
    }
}
