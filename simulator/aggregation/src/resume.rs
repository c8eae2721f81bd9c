//! Forwarded sums of a part of a larger job: sums sent, results received, and the audit of the workers'
//! results.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_protocol_aggregation::audit::{Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::{Lockstep, OwnSum};
use inart_protocol_aggregation::{Assignment, Chunk, ShardAssignment, Split};
use inart_wire::ShardId;

use crate::host::cut;

/// The sum of a chunk over the job's workers, and the sum of all as workers read it.
#[derive(Debug)]
struct Summed {
    own: Vec<f32>,
    read: Vec<f32>,
}

/// A chunk with values of a gradient.
#[derive(Debug)]
struct ChunkSpan {
    shard: usize,
    /// Index among the chunks of a round in that shard.
    number: u32,
    values: Range<usize>,
}

/// Forwarded sums of a run of a job.
#[derive(Debug)]
pub(crate) struct ForwardedSums {
    /// Number of other addends per sum.
    others: u32,
    exact: bool,
    /// Chunks in the order of values.
    spans: Vec<ChunkSpan>,
    /// Chunks per round, including placeholders and maxima, by shard.
    per_round: Vec<u32>,
    /// Sums, by shard and sequence.
    sums: BTreeMap<(usize, u32), Summed>,
}

impl ForwardedSums {
    /// Creates the record of a job whose gradients of `len` values are cut into `tensors` tensors.
    pub fn new(assignment: &Assignment, len: usize, tensors: usize, others: u32) -> Self {
        let mut per_round = vec![0; assignment.shards.len()];
        let mut spans = Vec::new();
        for part in cut(len, tensors) {
            let split = Split::new(assignment, part.len());
            let mut chunks = split.chunks();
            for ((shard, next), shard_assignment) in per_round.iter_mut().enumerate().zip(&assignment.shards)
            {
                let count = chunks_of(&split, shard);
                for number in *next..*next + count {
                    if let Some(chunk) = chunks.next().filter(|chunk| !matches!(chunk, Chunk::Maxima(_))) {
                        let values = part.start + chunk.values().start..part.start + chunk.values().end;
                        spans.push(ChunkSpan { shard, number, values });
                    }
                }
                *next += count.max(has_placeholder(shard_assignment).into());
            }
        }
        Self { others, exact: assignment.exact_sums, spans, per_round, sums: BTreeMap::new() }
    }

    /// Returns the number of other addends per sum.
    pub fn others(&self) -> u32 {
        self.others
    }

    /// Starts the next run.
    pub fn clear(&mut self) {
        self.sums.clear();
    }

    /// Records a forwarded sum and its result `all`; workers `read` the given values from the server's
    /// answer.
    ///
    /// # Errors
    ///
    /// Duplicate forwarding, or an answer that workers would decode to other values.
    pub fn add(&mut self, shard: ShardId, own: &OwnSum, all: &[f32], read: Vec<f32>) -> Result<(), String> {
        let sequence = own.sequence;
        // Equal numbers: +0 equals -0.
        if read != all {
            return Err(format!(
                "shard {shard}: of the sum of all for chunk {sequence} workers read {read:?}"
            ));
        }
        match self.sums.insert((shard.index(), sequence.get()), Summed { own: own.values.clone(), read }) {
            None => Ok(()),
            Some(_) => Err(format!("shard {shard}: the sum of chunk {sequence} was forwarded twice")),
        }
    }

    /// Audits a tensor of a round: the forwarded sum must equal the sum of the workers' inputs, and the
    /// received values must equal the result.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(
        &self,
        round: u32,
        tensor: &Range<usize>,
        sent: &[Sent<'_>],
        received: &[Received<'_>],
    ) -> Result<(), String> {
        let (mut forwarded, mut all) = (vec![0.0; tensor.len()], vec![0.0; tensor.len()]);
        for ChunkSpan { shard, number, values } in &self.spans {
            if !tensor.contains(&values.start) {
                continue;
            }
            let sequence = round * self.per_round[*shard] + number;
            let Some(Summed { own, read }) = self.sums.get(&(*shard, sequence)) else {
                return Err(format!("round {round}, shard {shard}: a result without a forwarded sum"));
            };
            if own.len() != values.len() {
                let (seen, expected) = (own.len(), values.len());
                return Err(format!(
                    "round {round}, shard {shard}: {seen} values of {expected} were forwarded"
                ));
            }
            let of_tensor = values.start - tensor.start..values.end - tensor.start;
            forwarded[of_tensor.clone()].copy_from_slice(own);
            all[of_tensor].copy_from_slice(read);
        }
        let result = Received { rank: 0, worker: "(forwarded)", result: &forwarded };
        check_round(&Lockstep, round, sent, &[result], self.exact)
            .map_err(|mismatch| mismatch.to_string())?;
        for Received { worker, result, .. } in received {
            let differs = |(seen, right): (&f32, &f32)| seen.to_bits() != right.to_bits();
            if let Some(at) = result.iter().zip(&all).position(differs) {
                let (seen, right) = (result[at], all[at]);
                return Err(format!(
                    "round {round}, worker {worker}: it received {seen} instead of {right} as value {at}"
                ));
            }
        }
        Ok(())
    }
}

/// Chunks of a tensor in a shard.
fn chunks_of(split: &Split, shard: usize) -> u32 {
    let shard = ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
    split.chunk_count(shard) as u32
}

/// Returns whether a shard without values of a tensor has a placeholder.
fn has_placeholder(shard: &ShardAssignment) -> bool {
    shard.share > 0.0
}

#[cfg(test)]
mod tests {
    use inart_protocol_aggregation::WorkerAddress;
    use inart_wire::{ChunkSeq, MacAddr, ValuesPerFrame};

    use super::*;

    /// Creates a record of 40 values in two tensors, of 13 and 27, in two shards. The second shard has almost
    /// no values: a placeholder for each tensor.
    fn forwarded() -> ForwardedSums {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let shard = |last, share| ShardAssignment {
            server: format!("s{last}"),
            mac: mac(last),
            share,
            rate_bps: 1e6,
            bitmap_indices: vec![],
        };
        let assignment = Assignment {
            job: 1.into(),
            name: "part".into(),
            plan_version: 1.into(),
            values_per_frame: ValuesPerFrame::N32,
            window_chunks: 2,
            exact_sums: false,
            workers: vec![WorkerAddress { name: "w1".into(), mac: mac(1) }],
            shards: vec![shard(8, 0.999), shard(9, 0.001)],
        };
        ForwardedSums::new(&assignment, 40, 2, 1)
    }

    fn own(sequence: u32, values: Vec<f32>) -> OwnSum {
        OwnSum::exact(ChunkSeq::from(sequence), values, true)
    }

    /// Audits the second tensor of round 1 with these forwarded and received values. A frame has two values
    /// of 11 digits each.
    fn audited(second: f32, received: f32) -> Result<(), String> {
        let mut forwarded = forwarded();
        for (frame, values) in (0..).zip([2; 13].into_iter().chain([1])) {
            let sum = own(21 + 7 + frame, vec![second; values]);
            let all = vec![second + 1.0; values];
            forwarded.add(ShardId::from(0), &sum, &all, all.clone()).expect("it is the first");
        }
        let sent = Sent { worker: "w1", values: &[5.0; 27] };
        let result = Received { rank: 0, worker: "w1", result: &[received; 27] };
        forwarded.check(1, &(13..40), &[sent], &[result])
    }

    #[test]
    fn the_sum_of_all_is_right() {
        assert_eq!(audited(5.0, 6.0), Ok(()));
    }

    #[test]
    fn a_forwarded_sum_that_differs_from_the_workers_is_reported() {
        let problem = audited(4.0, 5.0).expect_err("4 of 5");
        assert!(problem.contains("(forwarded)") && problem.contains("4 instead of 5"), "{problem}");
    }

    #[test]
    fn the_workers_own_sum_is_not_what_they_are_to_receive() {
        let problem = audited(5.0, 5.0).expect_err("the result lacks the other addends");
        assert!(problem.contains("worker w1") && problem.contains("5 instead of 6"), "{problem}");
    }

    #[test]
    fn a_sum_forwarded_twice_or_never_is_reported() {
        let mut forwarded = forwarded();
        let shard = ShardId::from(1);
        forwarded.add(shard, &own(0, vec![]), &[], vec![]).expect("it is the first");
        let problem = forwarded.add(shard, &own(0, vec![]), &[], vec![]).expect_err("it is the second");
        assert_eq!(problem, "shard 1: the sum of chunk 0 was forwarded twice");
        let problem = forwarded.check(0, &(0..13), &[], &[]).expect_err("it has not");
        assert_eq!(problem, "round 0, shard 0: a result without a forwarded sum");
    }

    #[test]
    fn an_answer_that_workers_read_differently_is_reported() {
        let (mut forwarded, own) = (forwarded(), own(0, vec![1.0]));
        let problem = forwarded.add(ShardId::from(0), &own, &[2.0], vec![1.0]).expect_err("it is not 2");
        assert_eq!(problem, "shard 0: of the sum of all for chunk 0 workers read [1.0]");
    }
}
