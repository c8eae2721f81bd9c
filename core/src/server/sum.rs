//! A chunk's values while they are added up, and then.

use alloc::vec::Vec;

use inart_wire::{Exponent, Flags, Frame, HeaderRepr, Kind};

use crate::exact::ExactSum;
use crate::quantise::fit_sums;

/// One sum per value of a frame.
#[derive(Clone, Debug)]
pub(super) enum Sum {
    /// Of scaled integers, in 64 bits.
    Integers(Vec<i64>),
    /// Of floats, in an exact job.
    Floats(Vec<ExactSum>),
    /// Complete: as the result's frame holds them.
    Result(Vec<i32>),
}

impl Sum {
    /// `values` sums of nothing.
    pub(super) fn new(values: usize, exact: bool) -> Self {
        match exact {
            true => Self::Floats(alloc::vec![ExactSum::default(); values]),
            false => Self::Integers(alloc::vec![0; values]),
        }
    }

    /// Adds a frame's values to incomplete sums.
    pub(super) fn add(&mut self, frame: &Frame<&[u8]>) {
        match self {
            Self::Integers(sums) => {
                for (sum, value) in sums.iter_mut().zip(frame.values()) {
                    *sum += i64::from(value);
                }
            }
            Self::Floats(sums) => {
                for (sum, value) in sums.iter_mut().zip(frame.values()) {
                    sum.add(f32::from_bits(value as u32));
                }
            }
            Self::Result(_) => {}
        }
    }

    /// Forgets what was added to incomplete sums.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Integers(sums) => sums.fill(0),
            Self::Floats(sums) => sums.fill(ExactSum::default()),
            Self::Result(_) => {}
        }
    }

    /// Turns the sums into the result, of values scaled by `exponent`; returns what the result's are scaled by.
    pub(super) fn complete(&mut self, exponent: Exponent) -> Exponent {
        let (result, exponent) = match self {
            Self::Integers(sums) => {
                let exponent = fit_sums(sums, exponent);
                (sums.iter().map(|sum| *sum as i32).collect(), exponent)
            }
            Self::Floats(sums) => {
                (sums.iter().map(|sum| sum.rounded().to_bits() as i32).collect(), Exponent::FLOATS)
            }
            Self::Result(_) => return exponent,
        };
        *self = Self::Result(result);
        exponent
    }

    /// The result, once complete.
    pub(super) fn result(&self) -> &[i32] {
        match self {
            Self::Result(values) => values,
            Self::Integers(_) | Self::Floats(_) => &[],
        }
    }
}

/// Whether a contribution's values are such as the job adds up. Those of an exact job no switch can have touched.
pub(super) fn is_of_the_kind(frame: &Frame<&[u8]>, header: &HeaderRepr, exact: bool) -> bool {
    let floats = header.exponent == Exponent::FLOATS;
    let is_exact = || {
        header.kind == Kind::Gradient
            && header.flags.contains(Flags::BYPASS)
            && !header.flags.contains(Flags::OVERFLOW)
            && frame.values().all(|value| f32::from_bits(value as u32).is_finite())
    };
    floats == exact && (!exact || is_exact())
}
