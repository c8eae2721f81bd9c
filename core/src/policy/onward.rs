//! The policy of a job that is part of a larger one: its sums go on, and what comes back are its results.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use inart_wire::{ChunkSeq, Exponent};

use super::lockstep::Sum;
use super::traits::{Due, Gathered, Policy, Progress, Receivers};

/// The sum of a chunk over all workers of the job, on its way to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSum {
    /// The chunk's number.
    pub sequence: ChunkSeq,
    /// The sum's values.
    pub values: Vec<i32>,
    /// What they are scaled by.
    pub exponent: Exponent,
    /// Whether it is the last chunk of its tensor.
    pub last: bool,
}

/// When all workers are in a chunk, their sum goes on, to be summed with others elsewhere. The chunk is
/// complete when the sum of all is back; every worker gets that. Values are scaled integers.
#[derive(Clone, Debug, Default)]
pub struct Onward {
    sums: VecDeque<OwnSum>,
    back: Option<(ChunkSeq, Vec<i32>, Exponent)>,
}

impl Onward {
    /// The next sum that goes on, in the order in which they were there.
    pub fn next_sum(&mut self) -> Option<OwnSum> {
        self.sums.pop_front()
    }

    /// The sum of all is back.
    pub(crate) fn put(&mut self, sequence: ChunkSeq, values: Vec<i32>, exponent: Exponent) {
        self.back = Some((sequence, values, exponent));
    }
}

impl Due for Onward {
    fn is_due(&self, _contributor: usize, _receiver: usize) -> bool {
        true
    }

    fn receivers(&self) -> Receivers {
        Receivers::Job
    }
}

impl Policy for Onward {
    type Reduction = Sum;

    fn cohort(&self, _rank: usize) -> usize {
        0
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        let is_back = self.back.as_ref().is_some_and(|(sequence, ..)| *sequence == chunk.sequence);
        is_back && chunk.present == chunk.members
    }

    fn reduction(&self, values: usize) -> Sum {
        Sum::new(values, false)
    }

    fn complete(&mut self, _chunk: &Progress, own: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        match self.back.take() {
            Some((_, values, exponent)) => (values, exponent),
            None => own.result(exponent),
        }
    }

    fn gather(&mut self, chunk: &Gathered<'_, Sum>) {
        if chunk.progress.present < chunk.progress.members {
            return;
        }
        let (mut values, exponent) = chunk.reduction.clone().result(chunk.exponent);
        values.truncate(chunk.length.into());
        let (sequence, last) = (chunk.progress.sequence, chunk.last);
        self.sums.push_back(OwnSum { sequence, values, exponent, last });
    }
}
