//! The larger job that sums go on to, in virtual time.

use std::collections::BTreeMap;

use inart_core::policy::OwnSum;
use inart_core::quantise::fit_sums;
use inart_faults::quantity::Span;
use inart_wire::{ChunkSeq, Exponent, Incarnation};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::event_queue::ProcessId;

/// What workers are told when the larger job ends.
pub(crate) const ENDED: &str = "site n2: worker w5 was told to stop";
/// Nothing is back sooner.
const SOONEST_NANOS: f64 = 1e3;
/// A sum of all on its way back.
#[derive(Debug)]
pub(crate) struct Coming {
    pub to: ProcessId,
    /// Of the server whose sum it is of.
    pub life: Incarnation,
    pub sequence: ChunkSeq,
    pub values: Vec<i32>,
    pub exponent: Exponent,
}

/// The larger job.
#[derive(Debug)]
pub(crate) struct Larger {
    /// A stream of its own.
    rng: ChaCha8Rng,
    /// By number.
    pub coming: BTreeMap<u32, Coming>,
    /// The next number.
    pub next: u32,
    pub has_ended: bool,
}

impl Larger {
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(6);
        Self { rng, coming: BTreeMap::new(), next: 0, has_ended: false }
    }

    /// How long a sum is away, in nanoseconds.
    pub fn delay(&mut self, within: Span) -> u64 {
        let longest = (within.0 as f64).max(SOONEST_NANOS);
        (SOONEST_NANOS * (longest / SOONEST_NANOS).powf(self.rng.random::<f64>())) as u64
    }

    /// What one of the others adds to a sum: values of about its size, mostly.
    pub fn drawn(&mut self, own: &OwnSum) -> Vec<i32> {
        // A placeholder means nothing.
        if own.values.len() == 1 && !own.last {
            return vec![0];
        }
        let largest = own.values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
        let bits = (u32::BITS - largest.leading_zeros()).min(31);
        let bits = match self.rng.random_range(0..8) {
            0 => 0,
            1 => self.rng.random_range(0..=(bits + 8).min(31)),
            _ => bits,
        };
        let most = (1i64 << bits) - 1;
        own.values.iter().map(|_| self.rng.random_range(-most..=most) as i32).collect()
    }
}

/// The sum of a sum that went on and of what others add, as a result holds it.
pub(crate) fn sum_of_all(own: &OwnSum, others: &[Vec<i32>]) -> (Vec<i32>, Exponent) {
    let mut sums: Vec<i64> = own.values.iter().map(|value| i64::from(*value)).collect();
    for values in others {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += i64::from(*value));
    }
    let exponent = fit_sums(&mut sums, own.exponent);
    (sums.into_iter().map(|sum| sum as i32).collect(), exponent)
}
