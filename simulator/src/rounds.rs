//! The rounds of one run of a job: what goes into each sum, and the audit of what came out.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_core::audit::{Difference, Mismatch, Received, Sent, check_round};
use inart_core::policy::Lockstep;
use inart_core::{Assignment, RoundRecord, Split};

use crate::bound::Bound;
use crate::gradients::Gradients;
use crate::host::cut;
use crate::record::Record;
use crate::went_on::WentOn;

/// The rounds of a run.
#[derive(Debug)]
pub(crate) struct Rounds {
    names: Vec<String>,
    gradients: Gradients,
    /// Values of the gradient of each worker, by rank.
    lens: Vec<usize>,
    /// Tensors that each is cut into.
    pub tensors: usize,
    /// `None` in an exact-sum job, whose sums have no error, and where sums go on.
    bound: Option<Bound>,
    chunks: Vec<Range<usize>>,
    /// Rounds that not every worker has ended: by round, then by rank.
    open: BTreeMap<u32, Vec<Option<Record>>>,
    /// Rounds whose sums were right at every worker.
    pub audited: u32,
    /// Sums compared: one per chunk and worker.
    pub sums_checked: u64,
    /// Of all sums of those rounds, in order: equal if they are equal bit for bit.
    pub digest: u64,
    /// What went on to others in this run, in a job that is part of a larger one.
    pub went_on: Option<WentOn>,
}

impl Rounds {
    /// Of a run of that job; the workers' gradients have those lengths, by rank.
    /// Each gradient is cut into so many tensors.
    pub fn new(
        assignment: &Assignment,
        gradients: Gradients,
        lens: Vec<usize>,
        tensors: usize,
        went_on: Option<WentOn>,
    ) -> Self {
        let mut chunks: Vec<Range<usize>> = Vec::new();
        for part in cut(lens[0], tensors) {
            let split = Split::new(assignment, part.len());
            chunks.extend(split.chunks().map(|chunk| part.start + chunk.start..part.start + chunk.end));
        }
        Self {
            names: assignment.workers.iter().map(|worker| worker.name.clone()).collect(),
            gradients,
            lens,
            tensors,
            bound: (!assignment.exact_sums && went_on.is_none()).then(|| Bound::new(chunks.len())),
            chunks,
            open: BTreeMap::new(),
            audited: 0,
            sums_checked: 0,
            digest: 0xcbf2_9ce4_8422_2325,
            went_on,
        }
    }

    /// The run after this one, with other gradients; what was counted counts on.
    pub fn next_run(&mut self) {
        self.gradients.run += 1;
        self.open.clear();
        self.went_on.iter_mut().for_each(WentOn::clear);
        self.bound = self.bound.as_ref().map(|_| Bound::new(self.chunks.len()));
    }

    /// Writes what the worker of that rank puts into that round.
    pub fn write_gradient(&self, round: u32, rank: usize, out: &mut Vec<f32>) {
        out.resize(self.lens[rank], 0.0);
        self.gradients.write(rank, round, out);
    }

    /// Takes in that a worker has ended a round; the last one has it audited.
    ///
    /// # Errors
    /// What is wrong with the sums, in one line.
    pub fn end(&mut self, round: u32, rank: usize, record: RoundRecord) -> Result<(), String> {
        if let Some(other) = self.lens.iter().position(|len| *len != self.lens[rank]) {
            let [name, peer] = [rank, other].map(|rank| &self.names[rank]);
            let [len, others] = [rank, other].map(|rank| self.lens[rank]);
            return Err(format!(
                "round {round}: {name} has a sum of {len} values, and {peer} put in {others}"
            ));
        }
        let records = self.open.entry(round).or_insert_with(|| vec![None; self.names.len()]);
        records[rank] = Some(Record::of(record));
        if records.iter().any(Option::is_none) {
            return Ok(());
        }
        let records: Vec<_> = self.open.remove(&round).into_iter().flatten().flatten().collect();
        self.audited += 1;
        let first = &records[0];
        let exponents = first.result_exponents.iter().map(|exponent| i32::from(*exponent));
        for value in first.result.iter().copied().chain(exponents) {
            // FNV-1a, a word at a time.
            self.digest = (self.digest ^ u64::from(value as u32)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.check(round, &records, &vec![true; records.len()])?;
        let Some(bound) = &mut self.bound else { return Ok(()) };
        let floats: Vec<_> = (0..records.len())
            .map(|rank| {
                let mut floats = vec![0.0; self.lens[rank]];
                self.gradients.write(rank, round, &mut floats);
                floats
            })
            .collect();
        bound.check(&self.chunks, &floats, &records).map_err(|problem| format!("round {round}, {problem}"))
    }

    /// Audits the rounds that only some workers have ended. `last` is each worker's present round and what it
    /// put in.
    pub fn audit_open(&mut self, last: &[(u32, Option<Record>)]) -> Result<(), String> {
        for (round, ended) in std::mem::take(&mut self.open) {
            let received: Vec<bool> = ended.iter().map(Option::is_some).collect();
            let others = last.iter().map(|(at, record)| record.clone().filter(|_| *at == round));
            let records: Option<Vec<Record>> =
                ended.into_iter().zip(others).map(|(ended, other)| ended.or(other)).collect();
            let Some(records) = records else {
                // A worker that never began the round cannot be in its sum, which then nobody may have.
                let (seen, expected) = (received.iter().filter(|ended| **ended).count(), self.names.len());
                let what = Difference::Length { items: "workers' gradients", seen, expected };
                let mismatch = Mismatch { round, chunk: 0, worker: self.names[0].clone(), what };
                return Err(mismatch.to_string());
            };
            self.check(round, &records, &received)?;
        }
        Ok(())
    }

    fn check(&mut self, round: u32, records: &[Record], ended: &[bool]) -> Result<(), String> {
        let named = || self.names.iter().map(String::as_str).zip(records);
        let sent: Vec<_> = named()
            .map(|(worker, record)| Sent { worker, values: &record.sent, exponents: &record.exponents })
            .collect();
        let received: Vec<_> = named()
            .enumerate()
            .filter(|(rank, _)| ended[*rank])
            .map(|(rank, (worker, record))| Received {
                rank,
                worker,
                result: &record.result,
                exponents: &record.result_exponents,
            })
            .collect();
        self.sums_checked += (received.len() * self.chunks.len()) as u64;
        if let Some(went_on) = &self.went_on {
            return went_on.check(round, &sent, &received, &self.chunks);
        }
        let checked = check_round(&Lockstep::default(), round, &sent, &received, &self.chunks);
        checked.map_err(|mismatch| mismatch.to_string())
    }
}

#[cfg(test)]
mod tests {
    use inart_core::{ShardAssignment, WorkerAddress};
    use inart_faults::quantity::Share;
    use inart_wire::{Epoch, Exponent, JobId, MacAddr, ValuesPerPacket};

    use super::*;
    use crate::gradients::Sizes;

    /// Of two workers, the first of which puts in ones and the second halves.
    fn rounds() -> Rounds {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let worker = |last| WorkerAddress { name: format!("w{last}"), mac: mac(last) };
        let shard =
            ShardAssignment { server: "s".into(), mac: mac(9), share: 1.0, rate_bps: 1e6, seats: vec![] };
        let assignment = Assignment {
            job: JobId::from(1u16),
            name: "digits".into(),
            epoch: Epoch::from(1u16),
            values_per_packet: ValuesPerPacket::N32,
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
            adjust: Some(adjust),
        };
        Rounds::new(&assignment, gradients, vec![2, 2], 1, None)
    }

    /// In units of 2^-24.
    fn record(sent: i32, result: [i32; 2]) -> RoundRecord {
        let exponents = vec![Exponent::from(-24i8)];
        let result_exponents = exponents.clone();
        RoundRecord { sent: vec![sent; 2], exponents, result: result.into(), result_exponents }
    }

    const ONE: i32 = 1 << 24;
    const HALF: i32 = 1 << 23;
    const RIGHT: [i32; 2] = [ONE + HALF; 2];

    /// The problem once both workers have ended the round.
    fn told(first: RoundRecord, second: RoundRecord) -> Result<(), String> {
        let mut rounds = rounds();
        rounds.end(0, 0, first).expect("the other has not ended");
        rounds.end(0, 1, second)
    }

    #[test]
    fn a_right_sum_is_right() {
        assert_eq!(told(record(ONE, RIGHT), record(HALF, RIGHT)), Ok(()));
    }

    #[test]
    fn a_bit_that_differs_from_the_sum_of_what_was_sent_is_told() {
        let wrong = [RIGHT[0], RIGHT[1] + 1];
        let problem = told(record(ONE, RIGHT), record(HALF, wrong)).expect_err("one is too many");
        assert!(
            problem.contains("worker w2") && problem.contains("25165825 instead of 25165824"),
            "{problem}"
        );
        assert!(told(record(ONE, wrong), record(HALF, RIGHT)).is_err());
    }

    #[test]
    fn a_sum_of_what_is_not_the_gradient_is_told() {
        // The sum of what was sent, but the first worker sent halves.
        let wrong = [ONE; 2];
        let problem =
            told(record(HALF, wrong), record(HALF, wrong)).expect_err("the sum of the floats is 1.5");
        assert!(problem.starts_with("round 0, "), "{problem}");
    }

    #[test]
    fn a_sum_without_somebody_who_never_began_is_told() {
        let mut rounds = rounds();
        rounds.end(0, 0, record(ONE, [ONE; 2])).expect("the other has not ended");
        assert!(rounds.audit_open(&[(1, None), (0, None)]).is_err());
    }
}
