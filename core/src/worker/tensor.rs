//! The numbers of a tensor that is summed.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{Exponent, Flags, Frame};

use crate::quantise::{
    dequantise_all, first_exponent, have_vanished, least_exponent, next_exponent, quantise,
};

/// A chunk's exponents.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// What all workers agree on; `None` before the result that they learn it from.
    agreed: Option<Exponent>,
    /// What this worker's values are scaled by, once they are.
    used: Option<Exponent>,
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
    /// The bits of the floats themselves, in an exact-sum job.
    Floats,
}

/// Memory for a tensor's numbers; what is in it means nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    floats: Vec<f32>,
    sent: Vec<i32>,
    sums: Vec<i32>,
}

impl Buffers {
    /// Room for floats.
    pub(super) fn take_floats(&mut self) -> Vec<f32> {
        core::mem::take(&mut self.floats)
    }

    /// For how many numbers there is room without more memory.
    pub(super) fn capacity(&self) -> usize {
        self.sums.capacity()
    }
}

/// A worker's tensor, as it goes into frames, and the sum that comes back.
///
/// Chunks are counted over all shards, in the order of [`Split::chunks`](crate::Split::chunks).
#[derive(Clone, Debug)]
pub(super) struct Numeric {
    /// Each chunk's place in the tensor.
    chunks: Vec<Range<usize>>,
    /// What goes into frames.
    sent: Vec<i32>,
    sums: Vec<i32>,
    numbers: Numbers,
}

impl Numeric {
    /// One of `workers` workers' tensors; in an exact-sum job, of finite values. `agreed` are the exponents
    /// of its chunks as far as they are known; without any, they begin anew. `buffers` is memory to use.
    pub(super) fn new(
        chunks: Vec<Range<usize>>,
        floats: Vec<f32>,
        workers: usize,
        exact: bool,
        agreed: Option<Vec<Option<Exponent>>>,
        buffers: Buffers,
    ) -> Self {
        let Buffers { mut sent, mut sums, .. } = buffers;
        // Zeros only where the memory is new: every number is written before it is read.
        sums.resize(floats.len(), 0);
        if exact {
            sent.clear();
            sent.extend(floats.iter().map(|float| float.to_bits() as i32));
            return Self { chunks, sent, sums, numbers: Numbers::Floats };
        }
        sent.resize(floats.len(), 0);
        let first = first_exponent(workers);
        let agreed = agreed.unwrap_or_else(|| alloc::vec![Some(first); chunks.len()]);
        let scale = |agreed| Scale { agreed, used: None, clipped: false, vanished: false, result: first };
        let scales = agreed.into_iter().map(scale).collect();
        let numbers = Numbers::Scaled { workers, floats, scales };
        Self { chunks, sent, sums, numbers }
    }

    /// The memory of a tensor that is not needed any more.
    pub(super) fn into_buffers(self) -> Buffers {
        let floats = match self.numbers {
            Numbers::Scaled { floats, .. } => floats,
            Numbers::Floats => Vec::new(),
        };
        Buffers { floats, sent: self.sent, sums: self.sums }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether it is known what the chunk's values are scaled by.
    pub(super) fn has_exponent(&self, chunk: usize) -> bool {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => scales[chunk].agreed.is_some(),
            Numbers::Floats => true,
        }
    }

    /// All workers agree on a chunk's exponent.
    pub(super) fn agree(&mut self, chunk: usize, exponent: Exponent) {
        if let Numbers::Scaled { scales, .. } = &mut self.numbers {
            scales[chunk].agreed = Some(exponent);
        }
    }

    /// Quantises a chunk that is to be sent for the first time and has its exponent; whether its values do
    /// not fit that.
    pub(super) fn prepare(&mut self, chunk: usize) -> bool {
        let Numbers::Scaled { scales, .. } = &self.numbers else { return false };
        match (scales[chunk].used, scales[chunk].agreed) {
            (None, Some(agreed)) => {
                self.scale(chunk, agreed);
                self.clipped(chunk)
            }
            _ => false,
        }
    }

    /// Quantises a chunk at a higher exponent than it has, since the server wants it; floats have none.
    pub(super) fn raise(&mut self, chunk: usize, exponent: Exponent) {
        if exponent > self.used(chunk) {
            self.scale(chunk, exponent);
        }
    }

    /// Quantises a chunk at an exponent, or at the least one that fits if that does not. Where somebody's
    /// values are not finite, everybody's are zeros.
    fn scale(&mut self, chunk: usize, exponent: Exponent) {
        let Numbers::Scaled { floats, scales, .. } = &mut self.numbers else { return };
        let floats = &floats[self.chunks[chunk].clone()];
        let quantised = &mut self.sent[self.chunks[chunk].clone()];
        let scale = &mut scales[chunk];
        let fits = exponent == Exponent::NOT_FINITE || quantise(floats, exponent, quantised).is_ok();
        let used = if fits { exponent } else { least_exponent(floats) };
        scale.clipped = !fits;
        scale.used = Some(used);
        if used == Exponent::NOT_FINITE {
            quantised.fill(0);
            scale.vanished = false;
            return;
        }
        if !fits {
            quantise(floats, used, quantised).expect("values fit their least exponent");
        }
        scale.vanished = have_vanished(floats, quantised);
    }

    pub(super) fn used(&self, chunk: usize) -> Exponent {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => used(&scales[chunk]),
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

    /// Stores a chunk's result, which it [`takes`](Self::takes); returns the exponent on which all workers
    /// thereby agree for the next use of the chunk.
    pub(super) fn store(&mut self, chunk: usize, frame: &Frame<&[u8]>) -> Option<Exponent> {
        let sums = &mut self.sums[self.chunks[chunk].clone()];
        frame.copy_values_to(sums);
        let Numbers::Scaled { workers, scales, .. } = &mut self.numbers else { return None };
        let scale = &mut scales[chunk];
        scale.result = frame.exponent();
        if scale.result == Exponent::NOT_FINITE {
            return scale.agreed;
        }
        let vanished = frame.flags().contains(Flags::VANISHED);
        Some(next_exponent(*workers, sums, frame.exponent(), vanished))
    }

    /// Writes the sums as floats.
    pub(super) fn read(&self, floats: &mut [f32]) {
        match &self.numbers {
            Numbers::Scaled { scales, .. } => {
                for (values, scale) in self.chunks.iter().zip(scales) {
                    let sums = &self.sums[values.clone()];
                    dequantise_all(sums, scale.result, &mut floats[values.clone()]);
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
            exponents: exponents(used),
            result: self.sums.clone(),
            result_exponents: exponents(|scale| scale.result),
        }
    }
}

/// What a chunk's values are scaled by, or will be.
fn used(scale: &Scale) -> Exponent {
    scale.used.or(scale.agreed).unwrap_or(scale.result)
}

/// What a worker sent and what it received, bit for bit. Values are in the tensor's order, exponents per
/// chunk in the order of [`Split::chunks`](crate::Split::chunks). In an exact-sum job the values are the bits
/// of floats and the exponents [`Exponent::FLOATS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundRecord {
    /// What this worker sent.
    pub sent: Vec<i32>,
    /// What those values are scaled by.
    pub exponents: Vec<Exponent>,
    /// The sum.
    pub result: Vec<i32>,
    /// What the sum is scaled by.
    pub result_exponents: Vec<Exponent>,
}

impl RoundRecord {
    /// The record of this sum and the next as one.
    pub fn append(&mut self, next: Self) {
        self.sent.extend(next.sent);
        self.exponents.extend(next.exponents);
        self.result.extend(next.result);
        self.result_exponents.extend(next.result_exponents);
    }
}
