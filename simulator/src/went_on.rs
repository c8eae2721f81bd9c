//! Sums of a job that is part of a larger one: what went on, what others added, and the audit of what workers
//! got for it.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_core::audit::{Received, Sent, check_round};
use inart_core::policy::{Lockstep, OwnSum};
use inart_core::{Assignment, Split};
use inart_wire::ShardId;

use crate::host::cut;

/// The sum of a chunk over the job's workers, and what each of the others adds to it, by the same exponent.
#[derive(Debug)]
struct Summed {
    own: Vec<i32>,
    exponent: i8,
    others: Vec<Vec<i32>>,
}

/// What went on in a run of a job.
#[derive(Debug)]
pub(crate) struct WentOn {
    /// How many others add to each sum.
    others: u32,
    /// By chunk of a gradient, in the audit's order: its shard, and its number among those of a round there.
    places: Vec<(usize, u32)>,
    /// By shard: chunks of a round, placeholders among them.
    per_round: Vec<u32>,
    /// By shard and sequence.
    sums: BTreeMap<(usize, u32), Summed>,
}

impl WentOn {
    /// Of a job whose gradients of `len` values are cut into so many tensors.
    pub fn new(assignment: &Assignment, len: usize, tensors: usize, others: u32) -> Self {
        let mut per_round = vec![0; assignment.shards.len()];
        let mut places = Vec::new();
        for part in cut(len, tensors) {
            let split = Split::new(assignment, part.len());
            for (shard, next) in per_round.iter_mut().enumerate() {
                let number = ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
                let chunks = split.chunk_count(number) as u32;
                places.extend((*next..*next + chunks).map(|chunk| (shard, chunk)));
                // A shard that has no value of a tensor has a placeholder.
                let has_part = assignment.shards[shard].share > 0.0;
                *next += chunks.max(has_part.into());
            }
        }
        Self { others, places, per_round, sums: BTreeMap::new() }
    }

    /// How many others add to each sum.
    pub fn others(&self) -> u32 {
        self.others
    }

    /// The next run begins.
    pub fn clear(&mut self) {
        self.sums.clear();
    }

    /// A sum goes on, to which others add those values.
    ///
    /// # Errors
    /// That it has gone on before.
    pub fn add(&mut self, shard: ShardId, own: &OwnSum, others: Vec<Vec<i32>>) -> Result<(), String> {
        let (place, exponent) = ((shard.index(), own.sequence.get()), own.exponent.get());
        let before = self.sums.insert(place, Summed { own: own.values.clone(), exponent, others });
        match before {
            None => Ok(()),
            Some(_) => Err(format!("shard {shard}: the sum of chunk {} went on twice", own.sequence)),
        }
    }

    /// Audits a round: that what went on is the sum of what the workers sent, and that what they received is
    /// the sum of that and what others added.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(
        &self,
        round: u32,
        sent: &[Sent<'_>],
        received: &[Received<'_>],
        chunks: &[Range<usize>],
    ) -> Result<(), String> {
        let len = chunks.last().map_or(0, |last| last.end);
        let mut values = vec![vec![0; len]; 1 + self.others as usize];
        let mut exponents = Vec::new();
        for ((shard, number), range) in self.places.iter().zip(chunks) {
            let sequence = round * self.per_round[*shard] + number;
            let Some(Summed { own, exponent, others }) = self.sums.get(&(*shard, sequence)) else {
                return Err(format!("round {round}, shard {shard}: a result without a sum that went on"));
            };
            exponents.push(*exponent);
            for (values, part) in values.iter_mut().zip([own].into_iter().chain(others)) {
                if part.len() != range.len() {
                    let (seen, expected) = (part.len(), range.len());
                    return Err(format!("round {round}, shard {shard}: {seen} values of {expected} went on"));
                }
                values[range.clone()].copy_from_slice(part);
            }
        }
        let went_on =
            Received { rank: 0, worker: "(what went on)", result: &values[0], exponents: &exponents };
        let told = |mismatch: inart_core::audit::Mismatch| mismatch.to_string();
        check_round(&Lockstep::default(), round, sent, &[went_on], chunks).map_err(told)?;
        let sites: Vec<_> =
            values.iter().map(|values| Sent { worker: "(a sum)", values, exponents: &exponents }).collect();
        check_round(&Lockstep::default(), round, &sites, received, chunks).map_err(told)
    }
}

#[cfg(test)]
mod tests {
    use inart_core::{ShardAssignment, WorkerAddress};
    use inart_wire::{ChunkSeq, Exponent, MacAddr, ValuesPerPacket};

    use super::*;

    /// Of 40 values in two tensors, of 13 and 27, in two shards, the second of which has almost nothing: a
    /// placeholder for each tensor.
    fn went_on() -> WentOn {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let shard = |last, share| ShardAssignment {
            server: format!("s{last}"),
            mac: mac(last),
            share,
            rate_bps: 1e6,
            seats: vec![],
        };
        let assignment = Assignment {
            job: 1.into(),
            name: "part".into(),
            epoch: 1.into(),
            values_per_packet: ValuesPerPacket::N32,
            window_chunks: 2,
            exact_sums: false,
            workers: vec![WorkerAddress { name: "w1".into(), mac: mac(1) }],
            shards: vec![shard(8, 0.999), shard(9, 0.001)],
        };
        WentOn::new(&assignment, 40, 2, 1)
    }

    fn own(sequence: u32, values: Vec<i32>) -> OwnSum {
        OwnSum { sequence: ChunkSeq::from(sequence), values, exponent: Exponent::from(-3), last: true }
    }

    /// The audit of round 1, of which those values went on in the second tensor and came to the worker.
    fn told(second: i32, received: i32) -> Result<(), String> {
        let mut went_on = went_on();
        let shard = ShardId::from(0);
        went_on.add(shard, &own(2, vec![5; 13]), vec![vec![2; 13]]).expect("it is the first");
        went_on.add(shard, &own(3, vec![second; 27]), vec![vec![1; 27]]).expect("it is the first");
        let exponents = [-3; 2];
        let sent = Sent { worker: "w1", values: &[5; 40], exponents: &exponents };
        let result: Vec<_> = [7; 13].into_iter().chain([received; 27]).collect();
        let received = Received { rank: 0, worker: "w1", result: &result, exponents: &exponents };
        went_on.check(1, &[sent], &[received], &[0..13, 13..40])
    }

    #[test]
    fn the_sum_of_what_went_on_and_what_others_added_is_right() {
        assert_eq!(told(5, 6), Ok(()));
    }

    #[test]
    fn what_went_on_and_is_no_sum_of_the_workers_is_told() {
        let problem = told(4, 5).expect_err("4 of 5");
        assert!(problem.contains("(what went on)") && problem.contains("4 instead of 5"), "{problem}");
    }

    #[test]
    fn the_workers_own_sum_is_not_what_they_are_to_receive() {
        let problem = told(5, 5).expect_err("nothing of the others");
        assert!(problem.contains("worker w1") && problem.contains("5 instead of 6"), "{problem}");
    }

    #[test]
    fn a_sum_that_goes_on_twice_or_never_is_told() {
        let mut went_on = went_on();
        let shard = ShardId::from(1);
        went_on.add(shard, &own(0, vec![0]), vec![vec![0]]).expect("it is the first");
        let problem = went_on.add(shard, &own(0, vec![0]), vec![vec![0]]).expect_err("it is the second");
        assert_eq!(problem, "shard 1: the sum of chunk 0 went on twice");
        let problem = went_on.check(0, &[], &[], &[0..13, 13..40]).expect_err("it has not");
        assert_eq!(problem, "round 0, shard 0: a result without a sum that went on");
    }
}
