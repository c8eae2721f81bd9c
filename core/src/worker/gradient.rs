//! The numbers of a round.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{Exponent, Flags, Frame};

use crate::Split;
use crate::quantise::{dequantise, first_exponent, have_vanished, least_exponent, next_exponent, quantise};

/// A chunk's exponents.
#[derive(Clone, Debug)]
struct Scale {
    /// What all workers agree on for the next round.
    agreed: Exponent,
    /// What this worker's values are scaled by in this round.
    used: Exponent,
    /// Whether the values did not fit the agreed exponent, so that `used` is this worker's own need.
    clipped: bool,
    /// Whether a sum of zero would say nothing about the values.
    vanished: bool,
    /// What the result is scaled by.
    result: Exponent,
}

/// What the values in frames are.
#[derive(Clone, Debug)]
enum Numbers {
    /// Integers, scaled by a power of two for each chunk; the floats they are made of.
    Scaled { workers: usize, floats: Vec<f32>, scales: Vec<Scale> },
    /// The bits of the floats themselves, in an exact job.
    Floats,
}

/// A worker's gradient, as it goes into frames, and the sum that comes back.
///
/// Chunks are counted over all shards, in the order of [`Split::chunks`].
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    /// Each chunk's place in the gradient.
    chunks: Vec<Range<usize>>,
    /// What goes into frames.
    sent: Vec<i32>,
    sums: Vec<i32>,
    numbers: Numbers,
}

impl Gradient {
    /// One of `workers` workers' gradients of `len` values.
    pub(super) fn new(split: &Split, len: usize, workers: usize, exact: bool) -> Self {
        let chunks: Vec<_> = split.chunks().collect();
        let zeros = alloc::vec![0; len];
        let numbers = match exact {
            true => Numbers::Floats,
            false => {
                let first = first_exponent(workers);
                let scale =
                    Scale { agreed: first, used: first, clipped: false, vanished: false, result: first };
                let floats = alloc::vec![0.0; len];
                Numbers::Scaled { workers, floats, scales: alloc::vec![scale; chunks.len()] }
            }
        };
        Self { chunks, sent: zeros.clone(), sums: zeros, numbers }
    }

    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    /// Takes in the finite floats of a round; returns how many chunks do not fit their agreed exponent.
    pub(super) fn load(&mut self, gradient: &[f32]) -> usize {
        match &mut self.numbers {
            Numbers::Floats => {
                for (sent, float) in self.sent.iter_mut().zip(gradient) {
                    *sent = float.to_bits() as i32;
                }
            }
            Numbers::Scaled { floats, .. } => {
                floats.copy_from_slice(gradient);
                (0..self.chunks.len()).for_each(|chunk| self.scale(chunk, None));
            }
        }
        (0..self.chunks.len()).filter(|&chunk| self.clipped(chunk)).count()
    }

    /// Quantises a chunk at a higher exponent than it has, since the server wants it; floats have none.
    pub(super) fn raise(&mut self, chunk: usize, exponent: Exponent) {
        if exponent > self.used(chunk) {
            self.scale(chunk, Some(exponent));
        }
    }

    /// Quantises a chunk at an exponent (else at the agreed one), or at the least one that fits if that does not.
    fn scale(&mut self, chunk: usize, exponent: Option<Exponent>) {
        let Numbers::Scaled { floats, scales, .. } = &mut self.numbers else { return };
        let floats = &floats[self.chunks[chunk].clone()];
        let quantised = &mut self.sent[self.chunks[chunk].clone()];
        let scale = &mut scales[chunk];
        scale.used = exponent.unwrap_or(scale.agreed);
        scale.clipped = quantise(floats, scale.used, quantised).is_err();
        if scale.clipped {
            scale.used = least_exponent(floats);
            quantise(floats, scale.used, quantised).expect("values fit their least exponent");
        }
        scale.vanished = have_vanished(floats, quantised);
    }

    pub(super) fn used(&self, chunk: usize) -> Exponent {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => scales[chunk].used,
            Numbers::Floats => Exponent::FLOATS,
        }
    }

    /// Whether the chunk does not fit the agreed exponent.
    pub(super) fn clipped(&self, chunk: usize) -> bool {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => scales[chunk].clipped,
            Numbers::Floats => false,
        }
    }

    /// Whether the chunk's values are not all zeros, but what goes into frames is, or nearly.
    pub(super) fn vanished(&self, chunk: usize) -> bool {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => scales[chunk].vanished,
            Numbers::Floats => false,
        }
    }

    /// Whether only the server can add the chunk up.
    pub(super) fn bypasses(&self, chunk: usize) -> bool {
        matches!(self.numbers, Numbers::Floats) || self.clipped(chunk)
    }

    pub(super) fn values(&self, chunk: usize) -> &[i32] {
        &self.sent[self.chunks[chunk].clone()]
    }

    /// Whether a result of that exponent and length can be the chunk's.
    pub(super) fn takes(&self, chunk: usize, exponent: Exponent, length: u16) -> bool {
        let floats = matches!(self.numbers, Numbers::Floats);
        floats == (exponent == Exponent::FLOATS) && self.chunks[chunk].len() == usize::from(length)
    }

    /// Takes in a chunk's result, which it [`takes`](Self::takes), and agrees on the next round's exponent.
    pub(super) fn store(&mut self, chunk: usize, frame: &Frame<&[u8]>) {
        let sums = &mut self.sums[self.chunks[chunk].clone()];
        for (sum, value) in sums.iter_mut().zip(frame.values()) {
            *sum = value;
        }
        if let Numbers::Scaled { workers, scales, .. } = &mut self.numbers {
            let scale = &mut scales[chunk];
            scale.result = frame.exponent();
            let vanished = frame.flags().contains(Flags::VANISHED);
            scale.agreed = next_exponent(*workers, sums, scale.result, vanished);
        }
    }

    /// Writes the sums as floats.
    pub(super) fn read(&self, floats: &mut [f32]) {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => {
                for (values, scale) in self.chunks.iter().zip(scales) {
                    for (float, sum) in floats[values.clone()].iter_mut().zip(&self.sums[values.clone()]) {
                        *float = dequantise(*sum, scale.result);
                    }
                }
            }
            Numbers::Floats => {
                for (float, sum) in floats.iter_mut().zip(&self.sums) {
                    *float = f32::from_bits(*sum as u32);
                }
            }
        }
    }

    pub(super) fn record(&self) -> RoundRecord {
        let exponents = |of: fn(&Scale) -> Exponent| match &self.numbers {
            Numbers::Scaled { scales, .. } => scales.iter().map(of).collect(),
            Numbers::Floats => alloc::vec![Exponent::FLOATS; self.chunks.len()],
        };
        RoundRecord {
            sent: self.sent.clone(),
            exponents: exponents(|scale| scale.used),
            result: self.sums.clone(),
            result_exponents: exponents(|scale| scale.result),
        }
    }
}

/// What a worker put into a round's sum and what it got, bit for bit. Values are in the gradient's order, exponents
/// per chunk in the order of [`Split::chunks`]. In an exact job the values are the bits of floats and the exponents
/// [`Exponent::FLOATS`].
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRecord {
    /// What this worker put into the sum.
    pub sent: Vec<i32>,
    /// What those values are scaled by.
    pub exponents: Vec<Exponent>,
    /// The sum.
    pub result: Vec<i32>,
    /// What the sum is scaled by.
    pub result_exponents: Vec<Exponent>,
}
