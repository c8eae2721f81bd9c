//! Completion rule of a job that is part of a larger one: its sums are forwarded, and the returned sums are
//! its results.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use inart_wire::{ChunkSeq, Exponent};

use super::lockstep::Sum;
use super::traits::{CompletionRule, ContributionRule, Gathered, Progress, Receivers};
use crate::exact_sum::Digits;
use crate::scale::{BLOCK_VALUES, dequantize, exponent_of, step};

/// Blocks of the longest tensor: 2^32 values. Maxima of more are of no tensor.
const MOST_BLOCKS: usize = 1 << 24;

/// Number format that workers expect in the result of a forwarded chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A placeholder's zero.
    Nothing,
    /// Floats: the chunk's values were floats, or scaled.
    Floats,
    /// Digits of exact sums.
    Digits(Digits),
}

/// Sum of a chunk over all workers of the job, to be forwarded.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnSum {
    /// The chunk's number.
    pub sequence: ChunkSeq,
    /// The sums, each rounded to the nearest float.
    pub values: Vec<f32>,
    /// Whether it is the last chunk of its tensor.
    pub last: bool,
    form: Form,
}

/// Global sum in the format of a chunk's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The chunk's number.
    pub sequence: ChunkSeq,
    /// The numbers of the frame.
    pub numbers: Vec<i32>,
    /// Number format of the values.
    pub exponent: Exponent,
}

impl OwnSum {
    /// Creates an exact sum of one worker with that sequence, for tests of receivers of sums.
    pub fn exact(sequence: ChunkSeq, values: Vec<f32>, last: bool) -> Self {
        Self { sequence, values, last, form: Form::Digits(Digits::for_workers(1)) }
    }

    /// Returns the result that gives all workers `values` (one per value of the chunk), and the values that
    /// workers read: equal bits, except that digits lose the sign of −0 and the payload of a NaN.
    pub fn answer(&self, values: &[f32]) -> (Answer, Vec<f32>) {
        let (numbers, exponent, read) = match self.form {
            Form::Nothing => (alloc::vec![0], Exponent::from(0), Vec::new()),
            Form::Floats => {
                let bits = values.iter().map(|value| value.to_bits() as i32);
                (bits.collect(), Exponent::FLOATS, values.to_vec())
            }
            Form::Digits(digits) => {
                let mut numbers = Vec::new();
                values.iter().for_each(|value| digits.write(*value, &mut numbers));
                let read =
                    numbers.chunks(digits.per_float()).map(|digits_of| digits.read(digits_of)).collect();
                (numbers, Exponent::DIGITS, read)
            }
        };
        (Answer { sequence: self.sequence, numbers, exponent }, read)
    }
}

/// Completion rule that forwards the sum of a chunk after all workers have contributed, to be summed with
/// others elsewhere. The chunk is complete when the global sum returns; every worker receives it. Maxima are
/// not forwarded.
#[derive(Clone, Debug)]
pub struct Onward {
    workers: usize,
    /// Next chunk to forward, in stream order.
    next: ChunkSeq,
    /// Chunks with all contributions that wait for an earlier one.
    early: BTreeMap<u32, (Vec<i32>, Exponent, bool)>,
    /// Scales of the blocks that follow, the oldest first.
    blocks: VecDeque<Option<i32>>,
    /// Number of values of the first of them that were forwarded.
    come: usize,
    sums: VecDeque<OwnSum>,
    back: Option<Answer>,
}

impl Onward {
    /// Creates the policy of a job of `workers` workers.
    pub fn new(workers: usize) -> Self {
        Self {
            workers,
            next: ChunkSeq::default(),
            early: BTreeMap::new(),
            blocks: VecDeque::new(),
            come: 0,
            sums: VecDeque::new(),
            back: None,
        }
    }

    /// Returns the next sum to forward, in chunk order.
    pub fn next_sum(&mut self) -> Option<OwnSum> {
        self.sums.pop_front()
    }

    /// The sum of all is back.
    pub(crate) fn put(&mut self, answer: Answer) {
        self.back = Some(answer);
    }

    /// All workers are in that chunk.
    fn take(&mut self, sequence: ChunkSeq, numbers: Vec<i32>, exponent: Exponent, last: bool) {
        let ahead = sequence.since(self.next);
        self.early.insert(sequence.get(), (numbers, exponent, last));
        if ahead != 0 {
            return;
        }
        while let Some((numbers, exponent, last)) = self.early.remove(&self.next.get()) {
            let sequence = self.next;
            self.next = self.next.advance(1);
            self.take_next(sequence, &numbers, exponent, last);
        }
    }

    fn take_next(&mut self, sequence: ChunkSeq, numbers: &[i32], exponent: Exponent, last: bool) {
        let digits = Digits::for_workers(self.workers);
        let (values, form) = match exponent {
            Exponent::MAXIMA => {
                let scale = |largest: &i32| Some(step(exponent_of(*largest)?, self.workers));
                let room = MOST_BLOCKS.saturating_sub(self.blocks.len());
                self.blocks.extend(numbers.iter().map(scale).take(room));
                return;
            }
            Exponent::FLOATS => {
                (numbers.iter().map(|bits| f32::from_bits(*bits as u32)).collect(), Form::Floats)
            }
            Exponent::DIGITS => {
                let floats = numbers.chunks(digits.per_float()).map(|sums| digits.read(sums));
                (floats.collect(), Form::Digits(digits))
            }
            _ if self.blocks.is_empty() => (Vec::new(), Form::Nothing),
            _ => (self.read_scaled(numbers, last), Form::Floats),
        };
        self.sums.push_back(OwnSum { sequence, values, last, form });
    }

    /// The floats of scaled numbers.
    fn read_scaled(&mut self, mut numbers: &[i32], last: bool) -> Vec<f32> {
        let mut values = Vec::with_capacity(numbers.len());
        while let Some(scale) = self.blocks.front().copied().filter(|_| !numbers.is_empty()) {
            let (own, others) = numbers.split_at(numbers.len().min(BLOCK_VALUES - self.come));
            numbers = others;
            let float = |number: &i32| scale.map_or(f32::NAN, |scale| dequantize(*number, scale));
            values.extend(own.iter().map(float));
            self.come += own.len();
            if self.come == BLOCK_VALUES {
                (self.come, _) = (0, self.blocks.pop_front());
            }
        }
        if last {
            self.come = 0;
            self.blocks.clear();
        }
        values
    }
}

impl ContributionRule for Onward {
    fn requires(&self, _contributor: usize, _receiver: usize) -> bool {
        true
    }

    fn receivers(&self) -> Receivers {
        Receivers::Job
    }
}

impl CompletionRule for Onward {
    type Reduction = Sum;

    fn cohort(&self, _rank: usize) -> usize {
        0
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        let is_back = self.back.as_ref().is_some_and(|answer| answer.sequence == chunk.sequence);
        (is_back || chunk.exponent == Exponent::MAXIMA) && chunk.present == chunk.members
    }

    fn reduction(&self, values: usize, exponent: Exponent) -> Sum {
        Sum::new(values, exponent)
    }

    fn complete(&mut self, chunk: &Progress, own: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        match self.back.take_if(|answer| answer.sequence == chunk.sequence) {
            Some(answer) => (answer.numbers, answer.exponent),
            None => (own.result(), exponent),
        }
    }

    fn gather(&mut self, chunk: &Gathered<'_, Sum>) {
        if chunk.progress.present == chunk.progress.members {
            let mut numbers = chunk.reduction.clone().result();
            numbers.truncate(chunk.length.into());
            self.take(chunk.progress.sequence, numbers, chunk.progress.exponent, chunk.last);
        }
    }
}

#[cfg(test)]
#[path = "onward_tests.rs"]
mod tests;
