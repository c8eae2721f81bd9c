//! The numbers of a tensor that is summed.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{Exponent, Frame};

use super::input::TensorInput;
use crate::Chunk;
use crate::exact_sum::Digits;
use crate::scale::{BLOCK_VALUES, dequantize_all, exponent_of, quantize, step};

/// Memory for a tensor's numbers, with unspecified contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    input: TensorInput,
    sums: Vec<f32>,
    blocks: Vec<Option<Block>>,
}

impl Buffers {
    /// Returns a buffer for a tensor's values.
    pub(super) fn take_input(&mut self) -> TensorInput {
        core::mem::take(&mut self.input)
    }

    /// Returns how many numbers fit without more memory.
    pub(super) fn capacity(&self) -> usize {
        self.sums.capacity()
    }
}

/// Scale of a block that all workers agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// Values are scaled by this.
    Finite(Exponent),
    /// A worker has a NaN or an infinity in it.
    NotFinite,
}

/// Reason for refusing a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another length or number format than the chunk's.
    Malformed,
    /// The largest size over all workers is below this worker's own.
    Forgotten,
}

/// A worker's tensor in the form of its frames, and the received sum.
///
/// Chunks are counted over all shards, in the order of [`Split::chunks`](crate::Split::chunks).
#[derive(Clone, Debug)]
pub(super) struct Numeric {
    chunks: Vec<Chunk>,
    workers: usize,
    input: TensorInput,
    sums: Vec<f32>,
    /// Scale by block; `None` before the result that contains it.
    blocks: Vec<Option<Block>>,
}

impl Numeric {
    /// One of `workers` workers' tensors. `buffers` is memory to use.
    pub(super) fn new(chunks: Vec<Chunk>, input: TensorInput, workers: usize, buffers: Buffers) -> Self {
        let Buffers { mut sums, mut blocks, .. } = buffers;
        // Zeros only where the memory is new: every number is written before it is read.
        sums.resize(input.floats().len(), 0.0);
        let is_scaled = chunks.iter().any(|chunk| matches!(chunk, Chunk::Maxima(_)));
        blocks.clear();
        blocks.resize(if is_scaled { input.maxima().len() } else { 0 }, None);
        Self { chunks, workers, input, sums, blocks }
    }

    /// The memory of a tensor that is not needed any more.
    pub(super) fn into_buffers(self) -> Buffers {
        Buffers { input: self.input, sums: self.sums, blocks: self.blocks }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    pub(super) fn is_own_not_finite(&self) -> bool {
        self.input.first_not_finite().is_some()
    }

    /// Returns the exponent of a frame of these values: the highest exponent of its blocks.
    fn exponent(&self, values: &Range<usize>) -> Exponent {
        let finite = known(&self.blocks, values).iter().filter_map(|known| match *known {
            Some(Block::Finite(exponent)) => Some(exponent),
            Some(Block::NotFinite) | None => None,
        });
        finite.max().unwrap_or(Exponent::MIN)
    }

    /// Returns whether all data of the chunk's frame is known.
    pub(super) fn can_write(&self, chunk: usize) -> bool {
        match &self.chunks[chunk] {
            Chunk::Scaled(values) => known(&self.blocks, values).iter().all(Option::is_some),
            Chunk::Maxima(_) | Chunk::Digits(_) | Chunk::Floats(_) => true,
        }
    }

    /// Returns whether the chunk is sent to the server alone, past the slots of switches.
    pub(super) fn bypasses(&self, chunk: usize) -> bool {
        matches!(self.chunks[chunk], Chunk::Floats(_))
    }

    /// Writes the chunk's values to `numbers`, and returns its exponent.
    pub(super) fn write(&self, chunk: usize, numbers: &mut Vec<i32>) -> Exponent {
        let floats = self.input.floats();
        numbers.clear();
        match &self.chunks[chunk] {
            Chunk::Maxima(blocks) => {
                numbers.extend_from_slice(&self.input.maxima()[blocks.clone()]);
                Exponent::MAXIMA
            }
            Chunk::Scaled(values) => {
                for (part, known) in parts(&self.blocks, values) {
                    match known {
                        Some(Block::Finite(exponent)) => {
                            quantize(&floats[part], step(exponent, self.workers), numbers);
                        }
                        Some(Block::NotFinite) | None => numbers.extend(part.map(|_| 0)),
                    }
                }
                self.exponent(values)
            }
            Chunk::Digits(values) => {
                let digits = Digits::for_workers(self.workers);
                floats[values.clone()].iter().for_each(|value| digits.write(*value, numbers));
                Exponent::DIGITS
            }
            Chunk::Floats(values) => {
                numbers.extend(floats[values.clone()].iter().map(|value| value.to_bits() as i32));
                Exponent::FLOATS
            }
        }
    }

    /// Stores a chunk's result.
    ///
    /// # Errors
    /// Why it cannot be the chunk's.
    pub(super) fn store(&mut self, chunk: usize, frame: &Frame<&[u8]>) -> Result<(), Refused> {
        let (exponent, length) = (frame.exponent(), usize::from(frame.length()));
        let numbers = || frame.values_at(0..length);
        match (self.chunks[chunk].clone(), exponent) {
            (Chunk::Maxima(blocks), Exponent::MAXIMA) if length == blocks.len() => {
                if numbers().zip(&self.input.maxima()[blocks.clone()]).any(|(largest, own)| largest < *own) {
                    return Err(Refused::Forgotten);
                }
                for (block, largest) in self.blocks[blocks].iter_mut().zip(numbers()) {
                    *block = Some(exponent_of(largest).map_or(Block::NotFinite, Block::Finite));
                }
            }
            // Scaled sums that are parts of larger ones return as floats.
            (Chunk::Floats(values) | Chunk::Scaled(values), Exponent::FLOATS) if length == values.len() => {
                let floats = numbers().map(|bits| f32::from_bits(bits as u32));
                self.sums[values].iter_mut().zip(floats).for_each(|(sum, float)| *sum = float);
            }
            (Chunk::Scaled(values), _) if exponent == self.exponent(&values) && length == values.len() => {
                self.store_scaled(&values, frame);
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
    fn store_scaled(&mut self, values: &Range<usize>, frame: &Frame<&[u8]>) {
        for (part, known) in parts(&self.blocks, values) {
            let places = part.start - values.start..part.end - values.start;
            match known {
                Some(Block::Finite(exponent)) => {
                    let step = step(exponent, self.workers);
                    dequantize_all(frame.values_at(places), step, &mut self.sums[part]);
                }
                Some(Block::NotFinite) | None => self.sums[part].fill(f32::NAN),
            }
        }
    }

    /// Writes the sums.
    pub(super) fn read(&self, floats: &mut [f32]) {
        floats[..self.sums.len()].copy_from_slice(&self.sums);
    }

    pub(super) fn record(&self) -> RoundRecord {
        RoundRecord { sent: self.input.floats().to_vec(), result: self.sums.clone() }
    }
}

/// Returns the scales of the blocks of a range of values.
fn known<'a>(blocks: &'a [Option<Block>], values: &Range<usize>) -> &'a [Option<Block>] {
    &blocks[values.start / BLOCK_VALUES..values.end.div_ceil(BLOCK_VALUES)]
}

/// Returns the parts of a range of values that are in one block each, and the scales of those blocks.
fn parts(
    blocks: &[Option<Block>],
    values: &Range<usize>,
) -> impl Iterator<Item = (Range<usize>, Option<Block>)> {
    let (first, values) = (values.start / BLOCK_VALUES, values.clone());
    known(blocks, &values).iter().zip(first..).map(move |(known, block)| {
        let start = (block * BLOCK_VALUES).max(values.start);
        (start..((block + 1) * BLOCK_VALUES).min(values.end), *known)
    })
}

/// A worker's inputs to a sum, and the received values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundRecord {
    /// Values of this worker.
    pub sent: Vec<f32>,
    /// Sums.
    pub result: Vec<f32>,
}

impl RoundRecord {
    /// The record of this sum and the next as one.
    pub fn append(&mut self, next: Self) {
        self.sent.extend(next.sent);
        self.result.extend(next.result);
    }
}
