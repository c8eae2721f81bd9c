//! The numbers of a tensor that is summed.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{Exponent, Frame};

use crate::Chunk;
use crate::exact_sum::Digits;
use crate::scale::{BLOCK_VALUES, dequantise, exponent_of, largest_size, quantise, step};

/// Memory for a tensor's numbers; what is in it means nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    floats: Vec<f32>,
    sums: Vec<f32>,
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

/// What all workers agree on about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// Values are scaled by this.
    Finite(Exponent),
    /// A worker has a NaN or an infinity in it.
    NotFinite,
}

/// Why a result is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It has another length, or other numbers than the chunk.
    Malformed,
    /// The largest size over all workers is below this worker's own.
    Forgotten,
}

/// A worker's tensor, as it goes into frames, and the sum that comes back.
///
/// Chunks are counted over all shards, in the order of [`Split::chunks`](crate::Split::chunks).
#[derive(Clone, Debug)]
pub(super) struct Numeric {
    chunks: Vec<Chunk>,
    workers: usize,
    floats: Vec<f32>,
    sums: Vec<f32>,
    /// `None` before the result that tells it.
    blocks: Vec<Option<Block>>,
    /// Whether a value of this worker's is a NaN or an infinity, as far as results are there.
    is_own_not_finite: bool,
}

impl Numeric {
    /// One of `workers` workers' tensors. `buffers` is memory to use.
    pub(super) fn new(chunks: Vec<Chunk>, floats: Vec<f32>, workers: usize, buffers: Buffers) -> Self {
        let mut sums = buffers.sums;
        // Zeros only where the memory is new: every number is written before it is read.
        sums.resize(floats.len(), 0.0);
        let is_scaled = chunks.iter().any(|chunk| matches!(chunk, Chunk::Maxima(_)));
        let blocks = if is_scaled { floats.len().div_ceil(BLOCK_VALUES) } else { 0 };
        let blocks = alloc::vec![None; blocks];
        Self { chunks, workers, floats, sums, blocks, is_own_not_finite: false }
    }

    /// The memory of a tensor that is not needed any more.
    pub(super) fn into_buffers(self) -> Buffers {
        Buffers { floats: self.floats, sums: self.sums }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    pub(super) fn is_own_not_finite(&self) -> bool {
        self.is_own_not_finite
    }

    /// The parts of a range of values that are in one block each, and what is known of those blocks.
    fn parts(&self, values: &Range<usize>) -> impl Iterator<Item = (Range<usize>, Option<Block>)> {
        let (first, end) = (values.start / BLOCK_VALUES, values.end.div_ceil(BLOCK_VALUES));
        let values = values.clone();
        self.blocks[first..end].iter().zip(first..).map(move |(known, block)| {
            let start = (block * BLOCK_VALUES).max(values.start);
            (start..((block + 1) * BLOCK_VALUES).min(values.end), *known)
        })
    }

    /// What a frame of these values is scaled by: the highest exponent of its blocks.
    fn exponent(&self, values: &Range<usize>) -> Exponent {
        let finite = self.parts(values).filter_map(|(_, known)| match known {
            Some(Block::Finite(exponent)) => Some(exponent),
            Some(Block::NotFinite) | None => None,
        });
        finite.max().unwrap_or(Exponent::MIN)
    }

    /// Whether all is known that the chunk's frame needs.
    pub(super) fn can_write(&self, chunk: usize) -> bool {
        match &self.chunks[chunk] {
            Chunk::Scaled(values) => self.parts(values).all(|(_, known)| known.is_some()),
            Chunk::Maxima(_) | Chunk::Digits(_) | Chunk::Floats(_) => true,
        }
    }

    /// Whether the chunk goes to the server alone, past the slots of switches.
    pub(super) fn bypasses(&self, chunk: usize) -> bool {
        matches!(self.chunks[chunk], Chunk::Floats(_))
    }

    /// Writes what the chunk's frame holds in place of `numbers`, and returns its exponent.
    pub(super) fn write(&self, chunk: usize, numbers: &mut Vec<i32>) -> Exponent {
        numbers.clear();
        match &self.chunks[chunk] {
            Chunk::Maxima(blocks) => {
                numbers.extend(self.own_maxima(blocks));
                Exponent::MAXIMA
            }
            Chunk::Scaled(values) => {
                for (part, known) in self.parts(values) {
                    match known {
                        Some(Block::Finite(exponent)) => {
                            quantise(&self.floats[part], step(exponent, self.workers), numbers);
                        }
                        Some(Block::NotFinite) | None => numbers.extend(part.map(|_| 0)),
                    }
                }
                self.exponent(values)
            }
            Chunk::Digits(values) => {
                let digits = Digits::for_workers(self.workers);
                self.floats[values.clone()].iter().for_each(|value| digits.write(*value, numbers));
                Exponent::DIGITS
            }
            Chunk::Floats(values) => {
                numbers.extend(self.floats[values.clone()].iter().map(|value| value.to_bits() as i32));
                Exponent::FLOATS
            }
        }
    }

    /// By block, the size of this worker's largest value.
    fn own_maxima(&self, blocks: &Range<usize>) -> impl Iterator<Item = i32> {
        let values = blocks.start * BLOCK_VALUES..(blocks.end * BLOCK_VALUES).min(self.floats.len());
        self.floats[values].chunks(BLOCK_VALUES).map(largest_size)
    }

    /// Stores a chunk's result.
    ///
    /// # Errors
    /// Why it cannot be the chunk's.
    pub(super) fn store(&mut self, chunk: usize, frame: &Frame<&[u8]>) -> Result<(), Refused> {
        let (exponent, length) = (frame.exponent(), usize::from(frame.length()));
        let numbers = || frame.values().take(length);
        // Of scaled values, their maxima tell.
        if let Chunk::Digits(values) | Chunk::Floats(values) = &self.chunks[chunk] {
            self.is_own_not_finite |= self.floats[values.clone()].iter().any(|value| !value.is_finite());
        }
        match (self.chunks[chunk].clone(), exponent) {
            (Chunk::Maxima(blocks), Exponent::MAXIMA) if length == blocks.len() => {
                let mut is_not_finite = false;
                for (largest, own) in numbers().zip(self.own_maxima(&blocks)) {
                    if largest < own {
                        return Err(Refused::Forgotten);
                    }
                    is_not_finite |= exponent_of(own).is_none();
                }
                self.is_own_not_finite |= is_not_finite;
                for (block, largest) in self.blocks[blocks].iter_mut().zip(numbers()) {
                    *block = Some(exponent_of(largest).map_or(Block::NotFinite, Block::Finite));
                }
            }
            // Scaled sums that are parts of larger ones come back as floats.
            (Chunk::Floats(values) | Chunk::Scaled(values), Exponent::FLOATS) if length == values.len() => {
                let floats = numbers().map(|bits| f32::from_bits(bits as u32));
                self.sums[values].iter_mut().zip(floats).for_each(|(sum, float)| *sum = float);
            }
            (Chunk::Scaled(values), _) if exponent == self.exponent(&values) && length == values.len() => {
                self.store_scaled(&values, numbers());
            }
            (Chunk::Digits(values), Exponent::DIGITS) => {
                let digits = Digits::for_workers(self.workers);
                if length != values.len() * digits.per_float() {
                    return Err(Refused::Malformed);
                }
                let mut numbers = numbers();
                let mut sums = Vec::with_capacity(digits.per_float());
                for sum in &mut self.sums[values] {
                    sums.clear();
                    sums.extend(numbers.by_ref().take(digits.per_float()));
                    *sum = digits.read(&sums);
                }
            }
            _ => return Err(Refused::Malformed),
        }
        Ok(())
    }

    /// Stores the result of scaled values.
    fn store_scaled(&mut self, values: &Range<usize>, mut numbers: impl Iterator<Item = i32>) {
        let parts: Vec<_> = self.parts(values).collect();
        for (part, known) in parts {
            let scale = match known {
                Some(Block::Finite(exponent)) => Some(step(exponent, self.workers)),
                Some(Block::NotFinite) | None => None,
            };
            for (sum, number) in self.sums[part].iter_mut().zip(&mut numbers) {
                *sum = scale.map_or(f32::NAN, |scale| dequantise(number, scale));
            }
        }
    }

    /// Writes the sums.
    pub(super) fn read(&self, floats: &mut [f32]) {
        floats[..self.sums.len()].copy_from_slice(&self.sums);
    }

    pub(super) fn record(&self) -> RoundRecord {
        RoundRecord { sent: self.floats.clone(), result: self.sums.clone() }
    }
}

/// What a worker put into a sum, and what it received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundRecord {
    /// This worker's values.
    pub sent: Vec<f32>,
    /// The sums.
    pub result: Vec<f32>,
}

impl RoundRecord {
    /// The record of this sum and the next as one.
    pub fn append(&mut self, next: Self) {
        self.sent.extend(next.sent);
        self.result.extend(next.result);
    }
}
