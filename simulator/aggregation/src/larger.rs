//! The larger job that sums go on to, in virtual time.

use std::collections::BTreeMap;

use inart_protocol_aggregation::completion_rule::{Answer, OwnSum};
use inart_topologies::faults::quantity::Span;
use inart_wire::Incarnation;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::event_queue::ProcessId;

/// Reason that workers receive when the larger job ends.
pub(crate) const ENDED: &str = "site n2: worker w5 was stopped";
/// Shortest time until a result returns.
const SOONEST_NANOS: f64 = 1e3;

/// A result in flight.
#[derive(Debug)]
pub(crate) struct ReturningSum {
    pub to: ProcessId,
    /// Incarnation of the server that forwarded the sum.
    pub incarnation: Incarnation,
    pub answer: Answer,
}

/// The larger job.
#[derive(Debug)]
pub(crate) struct Larger {
    /// Separate random stream.
    rng: ChaCha8Rng,
    /// Results in flight, by number.
    pub returning: BTreeMap<u32, ReturningSum>,
    /// The next number.
    pub next: u32,
    pub has_ended: bool,
}

impl Larger {
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(6);
        Self { rng, returning: BTreeMap::new(), next: 0, has_ended: false }
    }

    /// Draws the time until a result returns, in nanoseconds.
    pub fn delay(&mut self, within: Span) -> u64 {
        let longest = (within.0 as f64).max(SOONEST_NANOS);
        (SOONEST_NANOS * (longest / SOONEST_NANOS).powf(self.rng.random::<f64>())) as u64
    }

    /// Draws another participant's addend to a sum, usually of similar magnitude.
    pub fn drawn(&mut self, own: &OwnSum) -> Vec<f32> {
        let largest = own.values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
        let size = match self.rng.random_range(0..8) {
            0 => 0.0,
            1 => largest * 2f32.powi(self.rng.random_range(-40..=8)),
            _ => largest,
        };
        let mixed = self.rng.random_range(0..4) == 0;
        let value = |_: &f32| {
            let less = if mixed { 2f32.powi(-self.rng.random_range(0..60)) } else { 1.0 };
            // A sum beyond all floats has no size.
            if size.is_finite() { self.rng.random_range(-1.0..=1.0f32) * size * less } else { 1.0 }
        };
        own.values.iter().map(value).collect()
    }
}

/// Returns the sum of a forwarded sum and the others' addends, by value: in double precision, then rounded to
/// floats.
pub(crate) fn sum_of_all(own: &[f32], others: &[Vec<f32>]) -> Vec<f32> {
    let mut sums: Vec<f64> = own.iter().map(|value| f64::from(*value)).collect();
    for values in others {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    sums.into_iter().map(|sum| sum as f32).collect()
}
