//! InArt's policy: all workers are in each sum, and all get it.

use alloc::vec::Vec;

use inart_wire::{Exponent, Frame};

use crate::exact_sum::FloatSum;

use super::traits::{CompletionRule, ContributionRule, Progress, Receivers, Reduction};

/// A chunk is complete when every worker is in; its result is their sum, or their maximum; every worker gets
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lockstep;

impl ContributionRule for Lockstep {
    fn requires(&self, _contributor: usize, _receiver: usize) -> bool {
        true
    }

    fn receivers(&self) -> Receivers {
        Receivers::Job
    }
}

impl CompletionRule for Lockstep {
    type Reduction = Sum;

    fn cohort(&self, _rank: usize) -> usize {
        0
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        chunk.present == chunk.members
    }

    fn reduction(&self, values: usize, exponent: Exponent) -> Sum {
        Sum::new(values, exponent)
    }

    fn complete(&mut self, _chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        (sum.result(), exponent)
    }
}

/// One number per value of a frame.
#[derive(Clone, Debug)]
pub enum Sum {
    /// Sums.
    Sums(Vec<i32>),
    /// The greatest of each.
    Maxima(Vec<i32>),
    /// Exact sums of floats.
    Floats(Vec<FloatSum>),
}

impl Sum {
    /// Creates an empty reduction for `values` values of that exponent.
    pub fn new(values: usize, exponent: Exponent) -> Self {
        match exponent {
            Exponent::MAXIMA => Self::Maxima(alloc::vec![0; values]),
            Exponent::FLOATS => Self::Floats(alloc::vec![FloatSum::default(); values]),
            _ => Self::Sums(alloc::vec![0; values]),
        }
    }

    /// Returns the result.
    pub fn result(self) -> Vec<i32> {
        match self {
            Self::Sums(numbers) | Self::Maxima(numbers) => numbers,
            Self::Floats(sums) => sums.iter().map(|sum| sum.rounded().to_bits() as i32).collect(),
        }
    }
}

impl Reduction for Sum {
    fn add(&mut self, frame: &Frame<&[u8]>, most: i32) -> bool {
        match self {
            Self::Sums(sums) => return frame.add_values_to(sums, most),
            Self::Maxima(maxima) => frame.raise_to_values(maxima),
            Self::Floats(sums) => {
                let floats = frame.values().map(|bits| f32::from_bits(bits as u32));
                let floats = floats.take(frame.length().into());
                sums.iter_mut().zip(floats).for_each(|(sum, float)| sum.add(float));
            }
        }
        true
    }
}
