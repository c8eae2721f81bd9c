//! Independent check of every sum: the bits that each worker received, compared with the result that
//! `docs/protocol/numbers.md` specifies for the floats that all workers passed in. The job's completion rule
//! ([`ContributionRule`]) determines which workers a sum must contain. Shares no other code with the switches
//! and the hosts.

mod blocks;
mod digits;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::completion_rule::ContributionRule;

/// The input of a worker's program in a round.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Name.
    pub worker: &'a str,
    /// Values.
    pub values: &'a [f32],
}

/// The result at a worker's program, in the order of its input.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Rank: its index in `sent`.
    pub rank: usize,
    /// Name.
    pub worker: &'a str,
    /// Sums.
    pub result: &'a [f32],
}

/// First difference found, with the data needed to find its cause.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("round {round}, worker {worker}: {what}")]
pub struct Mismatch {
    /// The round, from 0.
    pub round: u32,
    /// Worker that received (or sent) a wrong value.
    pub worker: String,
    /// Difference.
    pub what: Difference,
}

/// Difference between a worker's report and the expected values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    /// Number of values that differs from the number of parameters.
    #[error("the report holds {seen} {items} instead of {expected}")]
    Length {
        /// Counted items.
        items: &'static str,
        /// Actual count.
        seen: usize,
        /// Expected count.
        expected: usize,
    },
    /// A value of the sum differs.
    #[error("it received {seen} instead of {expected} as value {index} of the tensor")]
    Value {
        /// Index in the tensor.
        index: usize,
        /// Received value.
        seen: f32,
        /// Expected value.
        expected: f32,
    },
}

/// Checks the sum of one tensor. `sent` has every worker of the job in order of rank, `received` the workers
/// that ended the round. `rule` decides which workers' values are in a sum. `exact`: whether the job sums
/// tensors of any length exactly.
///
/// # Errors
/// The first difference.
pub fn check_round(
    rule: &impl ContributionRule,
    round: u32,
    sent: &[Sent<'_>],
    received: &[Received<'_>],
    exact: bool,
) -> Result<(), Mismatch> {
    let wrong = |worker: &str, what| Mismatch { round, worker: worker.to_owned(), what };
    let expected = sent.first().map_or(0, |first| first.values.len());
    let length = |worker, items, seen| match seen == expected {
        true => Ok(()),
        false => Err(wrong(worker, Difference::Length { items, seen, expected })),
    };
    sent.iter().try_for_each(|sent| length(sent.worker, "sent values", sent.values.len()))?;
    let mut sums = Vec::<(Vec<bool>, Vec<f32>)>::new();
    for received in received {
        length(received.worker, "received values", received.result.len())?;
        let contributors: Vec<bool> =
            (0..sent.len()).map(|contributor| rule.requires(contributor, received.rank)).collect();
        if sums.iter().all(|(of, _)| *of != contributors) {
            let counted = sent.iter().zip(&contributors).filter(|(_, is_in)| **is_in);
            let counted: Vec<_> = counted.map(|(sent, _)| sent.values).collect();
            sums.push((contributors.clone(), sum_of(&counted, sent.len(), exact)));
        }
        let Some((_, right)) = sums.iter().find(|(of, _)| *of == contributors) else { continue };
        check(received.result, right).map_err(|what| wrong(received.worker, what))?;
    }
    Ok(())
}

/// Returns the right sum of `tensors`, all of one length, in a job of `workers` workers.
pub fn sum_of(tensors: &[&[f32]], workers: usize, exact: bool) -> Vec<f32> {
    let len = tensors.first().map_or(0, |first| first.len());
    sum_of_part(tensors, workers, exact || len <= 256)
}

/// Returns the right sum of one part of a tensor, given that part at each worker. The part starts with a
/// block, and ends with a block or with the tensor. `exact`: whether the tensor is summed exactly.
pub fn sum_of_part(tensors: &[&[f32]], workers: usize, exact: bool) -> Vec<f32> {
    let len = tensors.first().map_or(0, |first| first.len());
    match exact {
        true => (0..len).map(|index| digits::sum(tensors.iter().map(|tensor| tensor[index]))).collect(),
        false => {
            let block = |start: usize| {
                let parts: Vec<_> =
                    tensors.iter().map(|tensor| &tensor[start..(start + 256).min(len)]).collect();
                blocks::sum(&parts, workers)
            };
            (0..len).step_by(256).flat_map(block).collect()
        }
    }
}

/// Compares a worker's result with the right sum, bit for bit. Any two NaNs are equal.
fn check(result: &[f32], right: &[f32]) -> Result<(), Difference> {
    let differs = |seen: &f32, expected: &f32| {
        seen.to_bits() != expected.to_bits() && !(seen.is_nan() && expected.is_nan())
    };
    match result.iter().zip(right).position(|(seen, expected)| differs(seen, expected)) {
        Some(index) => Err(Difference::Value { index, seen: result[index], expected: right[index] }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
