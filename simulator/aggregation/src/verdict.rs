//! Verdict on a run, and its figures.

use inart_protocol_aggregation::{Failure, NonFinite, ServerCounters};
use inart_wire::AbortReason;

use crate::changing::Changing;
use crate::host::{End, Role, Worker};
use crate::larger::ENDED;
use crate::report::{ChangesReport, JobReport, Report, WorkerEnd};
use crate::simulation::{Job, Node, Simulation};

/// Returns the number of rounds that were started but not `audited`, of runs of `last` rounds whose furthest
/// worker is in round `furthest` (from 0). Returns 0 if more rounds were audited than started: the furthest
/// worker may have been restarted.
fn lost_rounds(last: u32, furthest: u32, runs: u32, audited: u32) -> u32 {
    last.min(furthest.saturating_add(1)).saturating_mul(runs).saturating_sub(audited)
}

impl Simulation<'_> {
    pub(crate) fn workers(&self, job: usize) -> impl Iterator<Item = &Worker> {
        self.jobs[job].workers.iter().filter_map(|id| match &self.processes[id.0 as usize].role {
            Role::Worker(worker) => Some(worker),
            _ => None,
        })
    }

    /// Returns the counters of the servers of a job, without servers that are not running.
    fn servers(&self, job: usize) -> impl Iterator<Item = ServerCounters> {
        self.processes.iter().filter(move |process| process.job == job).filter_map(|process| {
            match &process.role {
                Role::Server(server, _) => Some(server.counters()),
                Role::Gone(_) => Some(ServerCounters::default()),
                Role::Worker(_) | Role::Absent => None,
            }
        })
    }

    /// Returns the results of the slowest worker, by job.
    pub(crate) fn slowest_results(&self) -> Vec<u64> {
        let slowest = |job| self.workers(job).map(|worker| worker.flow.counters().results).min().unwrap_or(0);
        (0..self.jobs.len()).map(slowest).collect()
    }

    /// Returns the report of the run; `ended` is true if every worker has ended.
    pub(crate) fn report(mut self, ended: bool) -> Report {
        (0..self.jobs.len()).for_each(|job| self.audit_open(job));
        self.close_audits();
        let mut switched = std::mem::take(&mut self.switched_before);
        for node in &self.nodes {
            if let Node::Switch(node) = node {
                switched.add(&node.switch);
            }
        }
        let impossible = (switched.impossible > 0).then(|| {
            format!(
                "{} times a frame touched a register again or past its end, or did not leave",
                switched.impossible
            )
        });
        let failure = self.failure(ended).or(impossible);
        let jobs: Vec<_> = (0..self.jobs.len()).map(|job| self.job_report(job)).collect();
        let watched = self.options.watch.is_some().then(|| self.observer.seen());
        let goodputs = || jobs.iter().map(|job| job.shared_goodput_bps);
        let squares = goodputs().map(|x| x * x).sum::<f64>() * jobs.len() as f64;
        Report {
            topology: self.network.topology.name().to_owned(),
            seed: self.options.seed,
            failure,
            seconds: self.wire.now as f64 / 1e9,
            packet_hops: self.wire.hops,
            summed_in_switches: switched.summed,
            refused: switched.refused,
            sums_checked: self.jobs.iter().map(|job| job.rounds.sums_checked).sum(),
            faults: self.wire.tally.by_name(),
            tally: self.wire.tally,
            changes: self.changes_report(),
            watched,
            jain: if squares > 0.0 { goodputs().sum::<f64>().powi(2) / squares } else { 1.0 },
            jobs,
        }
    }

    fn changes_report(&self) -> Option<ChangesReport> {
        self.options.changes.as_ref()?;
        let Changing { done, began, over, .. } = &self.changing;
        let lost = |(index, job): (usize, &Job)| {
            let furthest = self.workers(index).map(|worker| worker.round).max().unwrap_or(0);
            lost_rounds(job.last_round, furthest, self.options.runs, job.rounds.audited)
        };
        let during = began.as_ref().zip(over.as_ref());
        let results = during.map(|((_, began), (_, over))| {
            over.iter().zip(began).map(|(over, began)| over.saturating_sub(*began)).collect()
        });
        Some(ChangesReport {
            changes: *done,
            lost_rounds: self.jobs.iter().enumerate().map(lost).sum(),
            seconds: during.map(|((began, _), (over, _))| (over - began) as f64 / 1e9),
            results: results.unwrap_or_default(),
        })
    }

    /// Audits the rounds of a job's run that not every worker has ended.
    pub(crate) fn audit_open(&mut self, job: usize) {
        let last: Vec<_> = self.workers(job).map(|worker| (worker.round, worker.record())).collect();
        let job = &mut self.jobs[job];
        let audited = job.rounds.audit_open(&last);
        job.wrong = job.wrong.take().or(audited.err());
    }

    /// Returns why the run failed, if it did.
    fn failure(&self, ended: bool) -> Option<String> {
        for (job, assignment) in self.jobs.iter().zip(&self.assignments) {
            if let Some(wrong) = &job.wrong {
                return Some(format!("wrong sum: job {}, {wrong}", assignment.name));
            }
        }
        if self.wire.tally.forged_delivered > 0 {
            return Some(format!("{} forged frames reached a host", self.wire.tally.forged_delivered));
        }
        let of_job = |job: usize| self.jobs[job].failure.clone().or(self.job_failure(job, ended));
        (0..self.jobs.len()).find_map(of_job).or_else(|| self.live_failure()).or_else(|| self.wrong_tables())
    }

    /// Returns why the current run of a job failed, if it did although its sums are right.
    pub(crate) fn job_failure(&self, index: usize, ended: bool) -> Option<String> {
        let assignment = &self.assignments[index];
        let blamed = self.blamed(index);
        for (worker, address) in self.workers(index).zip(&assignment.workers) {
            let (name, job) = (&address.name, &assignment.name);
            let round = worker.round;
            match &worker.end {
                None if ended => {
                    return Some(format!("silence: worker {name} of job {job} was not notified"));
                }
                None => {
                    let at = self.wire.now as f64 / 1e9;
                    return Some(format!(
                        "hang: worker {name} of job {job} is still in round {round} after {at} s"
                    ));
                }
                Some(End::Done) if blamed.is_some() => {
                    return Some(format!("worker {name} of job {job} succeeds although lengths differ"));
                }
                Some(End::Done) if self.skipper(index).is_some() => {
                    return Some(format!("worker {name} of job {job} succeeds although a sum was skipped"));
                }
                Some(End::Done) if self.is_ended_by_nan(index, None) => {
                    return Some(format!(
                        "worker {name} of job {job} succeeds although a gradient has a NaN"
                    ));
                }
                Some(End::Failed(failure))
                    if !self.is_excused(failure, index, worker.rank.index())
                        && !self.names_odd_length(failure, blamed)
                        && !self.names_skipper(failure, index) =>
                {
                    return Some(format!(
                        "worker {name} of job {job} aborted in round {round} without a cause: {failure}"
                    ));
                }
                Some(_) => {}
            }
        }
        None
    }

    /// Returns the rank of the worker at fault if a job's lengths differ: the odd one, but with two workers
    /// the first counts as right.
    fn blamed(&self, job: usize) -> Option<usize> {
        let odd = self
            .options
            .odd_length
            .filter(|odd| job == 0 && odd.gradient_values != self.options.gradient_values)?;
        match self.jobs[job].workers.len() {
            1 => None,
            2 => Some(1),
            _ => Some(odd.rank),
        }
    }

    /// Returns whether a failure names that worker for its length. A worker that ended early may not have
    /// reported its length; then another one is odd.
    fn names_odd_length(&self, failure: &Failure, blamed: Option<usize>) -> bool {
        let Failure::Aborted { reason: AbortReason::Mismatch { seen, expected }, culprit, .. } = failure
        else {
            return false;
        };
        let unsure = self.expected_aborts.any();
        blamed.is_some_and(|rank| unsure || (rank == culprit.index() && seen != expected))
    }

    /// Returns the rank of the worker at fault for a skipped round: the one that skips, but with two workers
    /// the first counts as right.
    fn skipper(&self, job: usize) -> Option<usize> {
        let skip = self.options.skip.filter(|_| job == 0)?;
        match self.jobs[job].workers.len() {
            1 => None,
            2 => Some(1),
            _ => Some(skip.rank),
        }
    }

    /// Returns whether a failure names that worker and a range of tensors with the first one of another step.
    /// If workers have ended, another worker may be the odd one.
    fn names_skipper(&self, failure: &Failure, job: usize) -> bool {
        let Failure::OtherTensors { culprit, first, last, .. } = failure else { return false };
        let (Some(rank), Some(skip)) = (self.skipper(job), self.options.skip) else { return false };
        let tensor = skip.round.saturating_mul(self.jobs[job].rounds.tensors as u32);
        let unsure = self.expected_aborts.any();
        (*first..=*last).contains(&tensor) && (unsure || rank == culprit.index())
    }

    /// Returns whether a job must end because a gradient has a NaN or an infinity: the gradient of the worker
    /// of this rank, or of any worker.
    fn is_ended_by_nan(&self, job: usize, rank: Option<usize>) -> bool {
        if self.handling() == NonFinite::Pass || self.options.spoilt.is_none() {
            return false;
        }
        let begun = self.workers(job).map(|worker| worker.round).max().unwrap_or(0);
        let rounds = &self.jobs[job].rounds;
        let ranks = rank.map_or(0..self.assignments[job].workers.len(), |rank| rank..rank + 1);
        let last = begun.min(self.jobs[job].last_round.saturating_sub(1));
        ranks.into_iter().any(|rank| (0..=last).any(|round| rounds.is_spoilt(round, rank)))
    }

    /// Returns whether the faults explain this failure of a job at the worker of that rank, and the failure
    /// names its cause.
    fn is_excused(&self, failure: &Failure, job: usize, rank: usize) -> bool {
        let workers = &self.assignments[job].workers;
        let named = match failure {
            Failure::ServerSilent { server, .. }
            | Failure::ServerLost { server, .. }
            | Failure::ServerRestarted { server, .. } => server,
            // It repeats its reason for half a second, less than a switch may take to restart.
            Failure::Aborted { reason: AbortReason::Silent, culprit, .. }
                if self.is_ended_by_nan(job, Some(culprit.index())) =>
            {
                return true;
            }
            Failure::Aborted { reason: AbortReason::Silent, culprit, .. } => &workers[culprit.index()].name,
            Failure::Elsewhere { reason } => return self.larger.has_ended && reason.to_string() == ENDED,
            Failure::NotFinite { .. } => {
                return self.options.adjust.is_some() || self.is_ended_by_nan(job, Some(rank));
            }
            Failure::Aborted { reason: AbortReason::NotFinite, culprit, .. } => {
                return self.options.adjust.is_some() || self.is_ended_by_nan(job, Some(culprit.index()));
            }
            _ => return false,
        };
        self.expected_aborts.covers(named)
    }

    fn job_report(&self, job: usize) -> JobReport {
        let assignment = &self.assignments[job];
        let state = &self.jobs[job];
        let seconds = state.ended_at.unwrap_or(self.wire.now) as f64 / 1e9;
        let bits = f64::from(state.rounds.audited) * self.options.gradient_values as f64 * 32.0;
        let (shared_at, slowest) = self.shared.clone().unwrap_or((self.wire.now, self.slowest_results()));
        let per_second = |bits: f64, seconds: f64| if seconds > 0.0 { bits / seconds } else { 0.0 };
        let shared_bits =
            slowest.get(job).copied().unwrap_or(0) as f64 * self.network.dataplane.values.get() as f64 * 32.0;
        let ends = self.workers(job).zip(&assignment.workers).filter_map(|(worker, address)| {
            let end = match worker.end.as_ref() {
                Some(End::Done) => return None,
                Some(End::Failed(failure)) => failure.to_string(),
                Some(End::Killed) => "killed".to_owned(),
                None => format!("in round {}", worker.round),
            };
            Some(WorkerEnd { worker: address.name.clone(), end })
        });
        JobReport {
            job: assignment.name.clone(),
            rounds: state.rounds.audited,
            digest: format!("{:016x}", state.rounds.digest),
            seconds,
            goodput_bps: per_second(bits, seconds),
            shared_goodput_bps: per_second(shared_bits, shared_at as f64 / 1e9),
            planned_bps: assignment.shards.iter().filter(|s| s.share > 0.0).map(|shard| shard.rate_bps).sum(),
            retransmissions: self.workers(job).map(|worker| worker.flow.counters().retransmissions).sum(),
            bypasses: self.workers(job).map(|worker| worker.flow.counters().bypasses).sum(),
            servers: self.servers(job).collect(),
            ends: ends.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lost_rounds;

    #[test]
    fn rounds_that_were_begun_and_not_audited_are_lost() {
        assert_eq!(lost_rounds(10, 10, 1, 10), 0);
        assert_eq!(lost_rounds(10, 3, 1, 3), 1, "the round that was open");
        assert_eq!(lost_rounds(10, 10, 3, 28), 2, "of all runs");
        assert_eq!(lost_rounds(u32::MAX, 5, 1, 0), 6, "without end");
        assert_eq!(lost_rounds(10, 0, 1, 4), 0, "the furthest worker has restarted");
        assert_eq!(lost_rounds(u32::MAX, u32::MAX, 2, 0), u32::MAX);
    }
}
