//! Rounds of one run of a job: inputs of each sum, and the audit of the results.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_protocol_aggregation::audit::{Difference, Mismatch, Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::Lockstep;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_aggregation::{Assignment, RoundRecord};
use inart_terms::{extended_fingerprint, fingerprint};

use crate::bound;
use crate::gradients::Gradients;
use crate::host::cut;
use crate::resume::ForwardedSums;

/// The rounds of a run.
#[derive(Debug)]
pub(crate) struct Rounds {
    names: Vec<String>,
    gradients: Gradients,
    /// Values of the gradient of each worker, by rank.
    lens: Vec<usize>,
    /// Number of tensors that each gradient is cut into.
    pub tensors: usize,
    /// Whether all sums are exact.
    exact: bool,
    /// Rounds that not every worker has ended: by round, then by rank.
    open: BTreeMap<u32, Vec<Option<RoundRecord>>>,
    /// Rounds whose sums were right at every worker.
    pub audited: u32,
    /// Sums compared: one per block and worker.
    pub sums_checked: u64,
    /// Digest of all sums of those rounds, in order: equal if they are equal bit for bit.
    pub digest: u64,
    /// Forwarded sums of this run, in a job that is part of a larger one.
    pub forwarded: Option<ForwardedSums>,
}

impl Rounds {
    /// Creates the rounds of a run of `assignment`'s job. `lengths` has the workers' gradient lengths by
    /// rank. Each gradient is cut into `tensors` tensors.
    pub fn new(
        assignment: &Assignment,
        gradients: Gradients,
        lens: Vec<usize>,
        tensors: usize,
        forwarded: Option<ForwardedSums>,
    ) -> Self {
        Self {
            names: assignment.workers.iter().map(|worker| worker.name.clone()).collect(),
            gradients,
            lens,
            tensors,
            exact: assignment.exact_sums,
            open: BTreeMap::new(),
            audited: 0,
            sums_checked: 0,
            digest: fingerprint([]),
            forwarded,
        }
    }

    /// Starts the next run, with other gradients; counters continue.
    pub fn next_view(&mut self) {
        self.gradients.run += 1;
        self.open.clear();
        self.forwarded.iter_mut().for_each(ForwardedSums::clear);
    }

    /// Writes the gradient of the worker of that rank for that round.
    pub fn write_gradient(&self, round: u32, rank: usize, out: &mut Vec<f32>) {
        out.resize(self.lens[rank], 0.0);
        self.gradients.write(rank, round, out);
    }

    /// Returns whether that worker's gradient of that round has a NaN or an infinity.
    pub fn is_spoilt(&self, round: u32, rank: usize) -> bool {
        self.lens[rank] > 0 && self.gradients.spoilt(rank, round).is_some()
    }

    /// Records that a worker has ended a round; the last one starts the audit.
    ///
    /// # Errors
    ///
    /// Describes the wrong sum, in one line.
    pub fn end(&mut self, round: u32, rank: usize, record: RoundRecord) -> Result<(), String> {
        if let Some(other) = self.lens.iter().position(|len| *len != self.lens[rank]) {
            let [name, peer] = [rank, other].map(|rank| &self.names[rank]);
            let [len, others] = [rank, other].map(|rank| self.lens[rank]);
            return Err(format!(
                "round {round}: {name} has a sum of {len} values, but {peer} contributed {others}"
            ));
        }
        let records = self.open.entry(round).or_insert_with(|| vec![None; self.names.len()]);
        records[rank] = Some(record);
        if records.iter().any(Option::is_none) {
            return Ok(());
        }
        let records: Vec<_> = self.open.remove(&round).into_iter().flatten().flatten().collect();
        self.audited += 1;
        let words = records[0].result.iter().map(|value| u64::from(value.to_bits()));
        self.digest = extended_fingerprint(self.digest, words);
        self.check_gradients(round, &records)?;
        self.check(round, &records, &vec![true; records.len()])?;
        if self.forwarded.is_some() {
            return Ok(());
        }
        for part in self.parts() {
            let tensors: Vec<_> = records.iter().map(|record| &record.sent[part.clone()]).collect();
            bound::check(&tensors, &records[0].result[part], self.exact)
                .map_err(|problem| format!("round {round}, {problem}"))?;
        }
        Ok(())
    }

    /// Returns the ranges of the tensors that a gradient is cut into.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        cut(self.lens[0], self.tensors)
    }

    /// Checks that workers' reported inputs equal their programs' gradients.
    fn check_gradients(&self, round: u32, records: &[RoundRecord]) -> Result<(), String> {
        let mut passed_in = Vec::new();
        for (rank, record) in records.iter().enumerate() {
            self.write_gradient(round, rank, &mut passed_in);
            let same = |(one, other): (&f32, &f32)| one.to_bits() == other.to_bits();
            if passed_in.len() != record.sent.len() || !passed_in.iter().zip(&record.sent).all(same) {
                let worker = &self.names[rank];
                return Err(format!("round {round}, worker {worker}: its input differs from its gradient"));
            }
        }
        Ok(())
    }

    /// Audits the rounds that only some workers have ended. `last` has each worker's current round and
    /// contribution.
    pub fn audit_open(&mut self, last: &[(u32, Option<RoundRecord>)]) -> Result<(), String> {
        for (round, ended) in std::mem::take(&mut self.open) {
            let received: Vec<bool> = ended.iter().map(Option::is_some).collect();
            let others = last.iter().map(|(at, record)| record.clone().filter(|_| *at == round));
            let records: Option<Vec<RoundRecord>> =
                ended.into_iter().zip(others).map(|(ended, other)| ended.or(other)).collect();
            let Some(records) = records else {
                // If a worker never started the round, no worker may have its sum.
                let (seen, expected) = (received.iter().filter(|ended| **ended).count(), self.names.len());
                let what = Difference::Length { items: "workers' gradients", seen, expected };
                let mismatch = Mismatch { round, worker: self.names[0].clone(), what };
                return Err(mismatch.to_string());
            };
            self.check_gradients(round, &records)?;
            self.check(round, &records, &received)?;
        }
        Ok(())
    }

    fn check(&mut self, round: u32, records: &[RoundRecord], ended: &[bool]) -> Result<(), String> {
        let receivers = ended.iter().filter(|ended| **ended).count();
        for part in self.parts() {
            self.sums_checked += (receivers * part.len().div_ceil(BLOCK_VALUES)) as u64;
            let named = || self.names.iter().map(String::as_str).zip(records);
            let sent: Vec<_> =
                named().map(|(worker, record)| Sent { worker, values: &record.sent[part.clone()] }).collect();
            let received: Vec<_> = named()
                .enumerate()
                .filter(|(rank, _)| ended[*rank])
                .map(|(rank, (worker, record))| Received {
                    rank,
                    worker,
                    result: &record.result[part.clone()],
                })
                .collect();
            match &self.forwarded {
                Some(forwarded) => forwarded.check(round, &part, &sent, &received)?,
                None => check_round(&Lockstep, round, &sent, &received, self.exact)
                    .map_err(|mismatch| mismatch.to_string())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use inart_protocol_aggregation::{ShardAssignment, WorkerAddress};
    use inart_topologies::faults::quantity::Share;
    use inart_wire::{JobId, MacAddr, PlanVersion, ValuesPerFrame};

    use super::*;
    use crate::gradients::Sizes;

    /// Creates rounds of two workers, the first with ones and the second with halves.
    fn rounds() -> Rounds {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let worker = |last| WorkerAddress { name: format!("w{last}"), mac: mac(last) };
        let shard = ShardAssignment {
            server: "s".into(),
            mac: mac(9),
            share: 1.0,
            rate_bps: 1e6,
            bitmap_indices: vec![],
        };
        let assignment = Assignment {
            job: JobId::from(1u16),
            name: "digits".into(),
            plan_version: PlanVersion::from(1u16),
            values_per_frame: ValuesPerFrame::N32,
            window_chunks: 2,
            exact_sums: false,
            workers: vec![worker(1), worker(2)],
            shards: vec![shard],
        };
        let adjust: crate::Adjust = |_, rank, _, values| values.fill([1.0, 0.5][rank]);
        let gradients = Gradients {
            seed: 1,
            job: 0,
            run: 0,
            spikes: Share::default(),
            sizes: Sizes::default(),
            spoilt: Share::default(),
            adjust: Some(adjust),
        };
        Rounds::new(&assignment, gradients, vec![2, 2], 1, None)
    }

    fn record(sent: f32, result: [f32; 2]) -> RoundRecord {
        RoundRecord { sent: vec![sent; 2], result: result.into() }
    }

    const RIGHT: [f32; 2] = [1.5; 2];

    /// Returns the problem once both workers have ended the round.
    fn problem_of(first: RoundRecord, second: RoundRecord) -> Result<(), String> {
        let mut rounds = rounds();
        rounds.end(0, 0, first).expect("the second worker has not ended");
        rounds.end(0, 1, second)
    }

    #[test]
    fn a_right_sum_is_right() {
        assert_eq!(problem_of(record(1.0, RIGHT), record(0.5, RIGHT)), Ok(()));
    }

    #[test]
    fn a_bit_that_differs_from_the_sum_is_reported() {
        let wrong = [RIGHT[0], RIGHT[1].next_up()];
        let problem = problem_of(record(1.0, RIGHT), record(0.5, wrong)).expect_err("one is too many");
        assert!(problem.contains("worker w2") && problem.contains("1.5000001 instead of 1.5"), "{problem}");
        assert!(problem_of(record(1.0, wrong), record(0.5, RIGHT)).is_err());
    }

    #[test]
    fn a_sum_of_other_inputs_than_the_gradient_is_reported() {
        // The sum equals the inputs, but the first worker sent halves.
        let wrong = [1.0; 2];
        let problem = problem_of(record(0.5, wrong), record(0.5, wrong)).expect_err("its gradient is 1.0");
        assert_eq!(problem, "round 0, worker w1: its input differs from its gradient");
    }

    #[test]
    fn so_it_is_of_a_round_that_not_all_have_ended() {
        let mut rounds = rounds();
        rounds.end(0, 0, record(1.0, [1.25; 2])).expect("the second worker has not ended");
        let problem = rounds.audit_open(&[(1, None), (0, Some(record(0.25, [0.0; 2])))]);
        let problem = problem.expect_err("its gradient is 0.5");
        assert_eq!(problem, "round 0, worker w2: its input differs from its gradient");
    }

    #[test]
    fn a_sum_without_a_worker_that_never_started_is_reported() {
        let mut rounds = rounds();
        rounds.end(0, 0, record(1.0, [1.0; 2])).expect("the second worker has not ended");
        assert!(rounds.audit_open(&[(1, None), (0, None)]).is_err());
    }
}
