//! The numbers of a round.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{Exponent, Frame};

use crate::Split;
use crate::quantise::{dequantise, first_exponent, least_exponent, next_exponent, quantise};

/// One chunk's place in the gradient and its exponents.
#[derive(Clone, Debug)]
struct Chunk {
    values: Range<usize>,
    /// What all workers agree on for the next round.
    agreed: Exponent,
    /// What this worker's values are scaled by in this round.
    used: Exponent,
    /// Whether the values did not fit the agreed exponent, so that `used` is this worker's own need.
    clipped: bool,
    /// What the result is scaled by.
    result: Exponent,
}

/// A worker's gradient, as floats and quantised, and the sum that comes back.
///
/// Chunks are counted over all shards, in the order of [`Split::chunks`].
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    workers: usize,
    chunks: Vec<Chunk>,
    floats: Vec<f32>,
    quantised: Vec<i32>,
    sums: Vec<i32>,
}

impl Gradient {
    pub(super) fn new(split: &Split, len: usize, workers: usize) -> Self {
        let exponent = first_exponent(workers);
        let chunks = split.chunks().map(|values| Chunk {
            values,
            agreed: exponent,
            used: exponent,
            clipped: false,
            result: exponent,
        });
        let zeros = alloc::vec![0; len];
        let floats = alloc::vec![0.0; len];
        Self { workers, chunks: chunks.collect(), floats, quantised: zeros.clone(), sums: zeros }
    }

    pub(super) fn len(&self) -> usize {
        self.floats.len()
    }

    /// Takes in the finite floats of a round; returns how many chunks do not fit their agreed exponent.
    pub(super) fn load(&mut self, floats: &[f32]) -> usize {
        self.floats.copy_from_slice(floats);
        for chunk in 0..self.chunks.len() {
            self.rescale(chunk, self.chunks[chunk].agreed);
        }
        self.chunks.iter().filter(|chunk| chunk.clipped).count()
    }

    /// Quantises a chunk at `exponent`, or at the least one that fits if that does not.
    pub(super) fn rescale(&mut self, chunk: usize, exponent: Exponent) {
        let chunk = &mut self.chunks[chunk];
        let floats = &self.floats[chunk.values.clone()];
        let quantised = &mut self.quantised[chunk.values.clone()];
        chunk.used = exponent;
        chunk.clipped = quantise(floats, exponent, quantised).is_err();
        if chunk.clipped {
            chunk.used = least_exponent(floats);
            quantise(floats, chunk.used, quantised).expect("values fit their least exponent");
        }
    }

    pub(super) fn used(&self, chunk: usize) -> Exponent {
        self.chunks[chunk].used
    }

    pub(super) fn clipped(&self, chunk: usize) -> bool {
        self.chunks[chunk].clipped
    }

    pub(super) fn values(&self, chunk: usize) -> &[i32] {
        &self.quantised[self.chunks[chunk].values.clone()]
    }

    /// Takes in a chunk's result and agrees on the next round's exponent. The frame's length is the chunk's.
    pub(super) fn store(&mut self, chunk: usize, frame: &Frame<&[u8]>) {
        let chunk = &mut self.chunks[chunk];
        let sums = &mut self.sums[chunk.values.clone()];
        for (sum, value) in sums.iter_mut().zip(frame.values()) {
            *sum = value;
        }
        chunk.result = frame.exponent();
        chunk.agreed = next_exponent(self.workers, chunk.agreed, sums, chunk.result);
    }

    /// Writes the sums as floats.
    pub(super) fn read(&self, floats: &mut [f32]) {
        for chunk in &self.chunks {
            let sums = &self.sums[chunk.values.clone()];
            for (float, sum) in floats[chunk.values.clone()].iter_mut().zip(sums) {
                *float = dequantise(*sum, chunk.result);
            }
        }
    }

    pub(super) fn record(&self) -> RoundRecord {
        RoundRecord {
            quantised: self.quantised.clone(),
            exponents: self.chunks.iter().map(|chunk| chunk.used).collect(),
            result: self.sums.clone(),
            result_exponents: self.chunks.iter().map(|chunk| chunk.result).collect(),
        }
    }
}

/// What a worker put into a round's sum and what it got, bit for bit. Values are in the gradient's order, exponents
/// per chunk in the order of [`Split::chunks`].
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRecord {
    /// What this worker put into the sum.
    pub quantised: Vec<i32>,
    /// What those values are scaled by.
    pub exponents: Vec<Exponent>,
    /// The sum.
    pub result: Vec<i32>,
    /// What the sum is scaled by.
    pub result_exponents: Vec<Exponent>,
}
