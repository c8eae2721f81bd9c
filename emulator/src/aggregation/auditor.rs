//! Checks the sums of a job, tensor by tensor, as soon as every worker has reported one.

use std::collections::BTreeMap;

use inart_host_agent::report::RoundReport;
use inart_protocol_aggregation::Assignment;
use inart_protocol_aggregation::audit::{Mismatch, Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::Lockstep;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_wire::Rank;

/// Reports of a job's workers about their sums.
#[derive(Debug)]
pub struct Auditor {
    /// Rounds of which not every worker has reported: each worker's report by rank.
    pending: BTreeMap<u32, Vec<Option<RoundReport>>>,
    audited: Vec<AuditedSum>,
    tallies: Vec<Tally>,
    sums_checked: u64,
    not_finite: usize,
}

/// A tensor whose sum was correct at every worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditedSum {
    /// Length of the tensor.
    pub values: usize,
    /// Time of the all-reduce at the worker that began it last, so that waiting for slower computations does
    /// not count, in seconds, by the clock.
    pub seconds: f64,
}

/// Counts of one worker's correct sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Number of tensors.
    pub tensors: u64,
    /// Their values, 4 bytes each.
    pub bytes: u64,
    /// From the start of each all-reduce to its end, added up, in seconds, by the clock.
    pub seconds: f64,
    /// Chunks that it retransmitted meanwhile.
    pub retransmissions: u64,
}

impl Auditor {
    /// Creates the auditor of a job with this number of workers, before the first report.
    pub fn new(workers: usize) -> Self {
        let tallies = vec![Tally::default(); workers];
        Self { pending: BTreeMap::new(), audited: Vec::new(), tallies, sums_checked: 0, not_finite: 0 }
    }

    /// Takes in what a worker reports of a round, and checks the round if it is the last to do so.
    ///
    /// # Errors
    /// The first difference. `values` is how long the tensor has to be; else as long as that of rank 0.
    pub fn take(
        &mut self,
        assignment: &Assignment,
        values: Option<usize>,
        rank: Rank,
        report: RoundReport,
    ) -> Result<(), Box<Mismatch>> {
        let round = report.round;
        let workers = self.tallies.len();
        let reports = self.pending.entry(round).or_insert_with(|| vec![None; workers]);
        if let Some(place) = reports.get_mut(rank.index()) {
            *place = Some(report);
        }
        if reports.iter().any(Option::is_none) {
            return Ok(());
        }
        let reports: Vec<_> = self.pending.remove(&round).unwrap_or_default().into_iter().flatten().collect();
        let values = values.unwrap_or_else(|| reports.first().map_or(0, |first| first.sent.len()));
        check(assignment, round, &reports)?;
        self.sums_checked += (values.div_ceil(BLOCK_VALUES) * workers) as u64;
        let is_finite = |report: &RoundReport| report.sent.iter().all(|value| value.is_finite());
        self.not_finite += usize::from(!reports.iter().all(is_finite));
        let seconds = reports.iter().map(|report| report.comm_seconds).fold(f64::INFINITY, f64::min);
        self.audited.push(AuditedSum { values, seconds });
        for (tally, report) in self.tallies.iter_mut().zip(&reports) {
            tally.tensors += 1;
            tally.bytes += 4 * values as u64;
            tally.seconds += report.comm_seconds;
            tally.retransmissions += report.counters.retransmissions;
        }
        Ok(())
    }

    /// Returns the tensors whose sums were correct at every worker.
    pub fn audited(&self) -> &[AuditedSum] {
        &self.audited
    }

    /// Returns the number of compared sums: one per block of a tensor and worker.
    pub fn sums_checked(&self) -> u64 {
        self.sums_checked
    }

    /// Returns the number of tensors with correct sums that had a NaN or an infinity at some worker.
    pub fn not_finite(&self) -> usize {
        self.not_finite
    }

    /// By rank.
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// Tensors that some workers have reported and others have not.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }
}

/// Compares what each worker received with the sum of what all of their programs passed in.
fn check(assignment: &Assignment, round: u32, reports: &[RoundReport]) -> Result<(), Box<Mismatch>> {
    let names = assignment.workers.iter().map(|worker| worker.name.as_str());
    let (sent, received): (Vec<_>, Vec<_>) = names
        .zip(reports)
        .enumerate()
        .map(|(rank, (worker, report))| {
            let RoundReport { sent, result, .. } = report;
            (Sent { worker, values: sent }, Received { rank, worker, result })
        })
        .unzip();
    check_round(&Lockstep, round, &sent, &received, assignment.exact_sums).map_err(Box::new)
}
