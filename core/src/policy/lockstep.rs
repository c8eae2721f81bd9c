//! InArt's policy: all workers are in each sum, and all get it.

use alloc::vec::Vec;

use inart_wire::{Exponent, Frame};

use super::traits::{Due, Policy, Progress, Receivers, Reduction};
use crate::exact_sum::ExactSum;
use crate::quantise::fit_sums;

/// A chunk is complete when every worker is in; its result is their sum; every worker gets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lockstep {
    /// Whether values are floats, whose sums are exact.
    pub exact_sums: bool,
}

impl Due for Lockstep {
    fn is_due(&self, _contributor: usize, _receiver: usize) -> bool {
        true
    }

    fn receivers(&self) -> Receivers {
        Receivers::Job
    }
}

impl Policy for Lockstep {
    type Reduction = Sum;

    fn cohort(&self, _rank: usize) -> usize {
        0
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        chunk.present == chunk.members
    }

    fn reduction(&self, values: usize) -> Sum {
        Sum::new(values, self.exact_sums)
    }

    fn complete(&mut self, _chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        sum.result(exponent)
    }
}

/// One sum per value of a frame.
#[derive(Clone, Debug)]
pub enum Sum {
    /// Of scaled integers, in 64 bits.
    Integers(Vec<i64>),
    /// Of floats, in an exact-sum job.
    Floats(Vec<ExactSum>),
}

impl Sum {
    /// `values` sums, all zero.
    pub fn new(values: usize, exact_sums: bool) -> Self {
        match exact_sums {
            true => Self::Floats(alloc::vec![ExactSum::default(); values]),
            false => Self::Integers(alloc::vec![0; values]),
        }
    }

    /// The result, of values scaled by `exponent`, and what the result's are scaled by.
    pub fn result(self, exponent: Exponent) -> (Vec<i32>, Exponent) {
        match self {
            Self::Integers(mut sums) => {
                let exponent = fit_sums(&mut sums, exponent);
                (sums.iter().map(|sum| *sum as i32).collect(), exponent)
            }
            Self::Floats(sums) => {
                (sums.iter().map(|sum| sum.rounded().to_bits() as i32).collect(), Exponent::FLOATS)
            }
        }
    }
}

impl Reduction for Sum {
    fn add(&mut self, frame: &Frame<&[u8]>) {
        match self {
            Self::Integers(sums) => frame.add_values_to(sums),
            Self::Floats(sums) => {
                for (sum, value) in sums.iter_mut().zip(frame.values()) {
                    sum.add(f32::from_bits(value as u32));
                }
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Integers(sums) => sums.fill(0),
            Self::Floats(sums) => sums.fill(ExactSum::default()),
        }
    }
}
