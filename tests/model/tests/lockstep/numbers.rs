//! The model's sums as the numbers of real frames, and as floats.

use inart_model::{
    BEFORE, Config, DIGITS, Exponent, Generation, LIMITS, MAX_CHUNKS, MAX_WORKERS, NEXT_TENSOR, NOT_FINITE,
    Run, SECOND_GENERATION, Sum,
};
use inart_protocol_aggregation::exact_sum::Digits;
use inart_protocol_aggregation::scale::{BLOCK_VALUES, exponent_of, largest_size, quantize, step};
use inart_wire::{Exponent as WireExponent, ValuesPerFrame};

use super::codec::Codec;

/// Floats of a chunk whose sums are exact: their digits take 24 numbers.
const EXACT_FLOATS: usize = 2;
/// Numbers of a frame, or of each half of it, where no tensor is scaled.
const NUMBERS: usize = 32;
/// Scaled floats are multiples of this, and this of every step that they are scaled by.
const UNIT: f32 = 1.0 / (1 << 18) as f32;

/// Returns the values of a frame. If real workers scale a tensor, of more values than are summed exactly,
/// all of it has to be in a few chunks.
pub fn values_per_frame(config: &Config) -> ValuesPerFrame {
    match () {
        () if config.halves => ValuesPerFrame::N64,
        () if has_scaled_workers(config) => ValuesPerFrame::N1024,
        () => ValuesPerFrame::N32,
    }
}

/// Places of the numbers of a frame, twice: in a frame of 64 each pass of a switch of Tofino sums a half of
/// them, the first those from 0 to 3 and from 8 to 35.
pub fn halves(config: &Config) -> [Vec<usize>; 2] {
    match config.halves {
        true => [(0..4).chain(8..36).collect(), (4..8).chain(36..64).collect()],
        false => [(); 2].map(|()| (0..values_per_frame(config).get()).collect()),
    }
}

/// Returns whether real workers take part that scale tensors. The programs for Tofino have no frames as long
/// as that takes.
pub fn has_scaled_workers(config: &Config) -> bool {
    config.scaled > 0 && config.tofino.is_none()
}

/// Returns the float of that size.
fn float_of(size: u8) -> f32 {
    if size == NOT_FINITE { f32::NAN } else { 16f32.powi(size.into()) }
}

/// Floats as the numbers of a frame.
fn float_bits(floats: &[f32]) -> Vec<i32> {
    floats.iter().map(|float| float.to_bits() as i32).collect()
}

/// Decodes the digits of a sum: the generation, the chunk, the worker, and the count.
fn digits(sum: Sum) -> impl Iterator<Item = (u8, u8, u8, u8)> {
    let (chunks, workers) = (u32::from(MAX_CHUNKS), u32::from(MAX_WORKERS));
    let digits = (0..DIGITS).filter(move |digit| sum.digit(*digit) > 0);
    digits.map(move |digit| {
        let place = digit % (chunks * workers);
        let generation = digit / (chunks * workers);
        (generation as u8, (place / workers) as u8, (place % workers) as u8, sum.digit(digit))
    })
}

impl Codec {
    fn workers(&self) -> usize {
        self.config.workers.into()
    }

    /// Returns the exponent in a header.
    pub fn exponent(&self, exponent: Exponent) -> WireExponent {
        match exponent {
            Exponent::Digits => WireExponent::DIGITS,
            Exponent::Floats => WireExponent::FLOATS,
            Exponent::Maxima => WireExponent::MAXIMA,
            Exponent::Scaled(maximum) => {
                exponent_of(largest_size(&[float_of(maximum)])).unwrap_or(WireExponent::MIN)
            }
        }
    }

    /// Values of a chunk.
    fn values(&self, sequence: u8) -> usize {
        match self.config.scaled {
            0 if self.config.floats => NUMBERS,
            0 => EXACT_FLOATS,
            _ if !has_scaled_workers(&self.config) => NUMBERS / 2,
            _ if self.config.is_last(0, sequence) => BLOCK_VALUES + 1,
            _ => ValuesPerFrame::N1024.get(),
        }
    }

    /// Blocks of a tensor, of which a chunk of sizes has all.
    fn blocks(&self) -> usize {
        let of_values = (0..self.config.chunks_of_tensor()).filter(|chunk| !self.config.is_of_maxima(*chunk));
        of_values.map(|chunk| self.values(chunk)).sum::<usize>().div_ceil(BLOCK_VALUES)
    }

    /// Numbers of a chunk.
    pub fn length(&self, sequence: u8, exponent: Exponent) -> usize {
        match (exponent, self.config.scaled) {
            (Exponent::Maxima, _) => self.blocks(),
            (_, 0) if self.config.floats => NUMBERS,
            (_, 0) => EXACT_FLOATS * Digits::for_workers(self.workers()).per_float(),
            _ => self.values(sequence),
        }
    }

    /// Returns whether values of that generation are of a tensor that is not finite.
    fn is_not_finite(&self, generation: u8, sequence: u8) -> bool {
        generation == NOT_FINITE && self.config.maximum(sequence) == NOT_FINITE
    }

    /// Returns the contribution of a worker to a chunk: one value encodes the worker and its incarnation or
    /// run, the next the chunk. If tensors are scaled each block starts with a value of the worker's size.
    fn term(&self, generation: u8, sequence: u8, worker: u8) -> Vec<f32> {
        let is_scaled = self.config.scaled > 0;
        let kind = match generation {
            BEFORE if !self.is_not_finite(generation, sequence) => 1,
            SECOND_GENERATION if !is_scaled => 2,
            _ => 0,
        };
        let power = |exponent: u8| 4f32.powi(exponent.into());
        let own = [power(kind * MAX_WORKERS + worker), power(sequence)];
        let mut values = vec![0.0; self.values(sequence)];
        if is_scaled {
            let of_this_run = kind == 0 && worker < self.config.workers;
            let size = self.config.size(Run::First, sequence, worker.min(self.config.workers - 1));
            let size = if of_this_run { float_of(size) } else { 0.0 };
            values.iter_mut().step_by(BLOCK_VALUES).for_each(|value| *value = size);
            values[1..3].copy_from_slice(&own.map(|value| value * UNIT));
        } else {
            values[..2].copy_from_slice(&own);
        }
        values
    }

    /// Floats as digits of exact sums.
    fn digits(&self, floats: &[f32]) -> Vec<i32> {
        let digits = Digits::for_workers(self.workers());
        let mut numbers = Vec::new();
        floats.iter().for_each(|float| digits.write(*float, &mut numbers));
        numbers
    }

    /// Returns the numbers that such values are in a frame. Of a tensor that is not finite all are zeros.
    fn numbers_of(&self, generation: u8, sequence: u8, values: &[f32]) -> Vec<i32> {
        match self.config.scaled {
            0 => self.digits(values),
            _ if self.is_not_finite(generation, sequence) => vec![0; values.len()],
            _ => {
                // Those of a run before are of any scale.
                let maximum = if generation == BEFORE { 0 } else { generation };
                let exponent = self.exponent(Exponent::Scaled(maximum));
                let mut numbers = Vec::new();
                quantize(values, step(exponent, self.workers()), &mut numbers);
                numbers
            }
        }
    }

    /// Returns the numbers of a frame, or of each of its halves.
    pub fn numbers(&self, sequence: u8, exponent: Exponent, sum: Sum) -> Vec<i32> {
        let mut numbers = vec![0; halves(&self.config)[0].len()];
        if exponent == Exponent::Maxima {
            let size = largest_size(&[float_of(sum.size(sequence))]);
            numbers[..self.blocks()].fill(size);
            return numbers;
        }
        if exponent == Exponent::Floats {
            return float_bits(&self.floats(sequence, sum));
        }
        for (generation, chunk, worker, count) in digits(sum) {
            let term = self.numbers_of(generation, chunk, &self.term(generation, chunk, worker));
            let counted = term.iter().map(|number| number * i32::from(count));
            numbers.iter_mut().zip(counted).for_each(|(number, term)| *number += term);
        }
        // The greatest value of the model's register occurs as a limit only.
        let last = numbers.len() - 1;
        numbers[last] = match sum.value() {
            value if value == LIMITS.1 => i32::MAX,
            value => i32::from(value) << 29,
        };
        numbers
    }

    /// Returns a frame of numbers with equal halves.
    pub fn spread(&self, numbers: &[i32]) -> Vec<i32> {
        let mut frame = vec![0; values_per_frame(&self.config).get()];
        for half in halves(&self.config) {
            half.iter().zip(numbers).for_each(|(place, number)| frame[*place] = *number);
        }
        frame
    }

    /// Returns a result: its number format, and its numbers. Sums of the larger job arrive as floats, those
    /// of scaled values as their bits.
    pub fn result(&self, sequence: u8, sum: Sum) -> (WireExponent, Vec<i32>) {
        let exponent = self.config.exponent(sequence);
        let floats = || self.floats(sequence, sum);
        let (header, mut numbers) = match exponent {
            Exponent::Scaled(_) if self.config.onward => (WireExponent::FLOATS, float_bits(&floats())),
            Exponent::Digits if self.config.onward => (WireExponent::DIGITS, self.digits(&floats())),
            _ => (self.exponent(exponent), self.numbers(sequence, exponent, sum)),
        };
        numbers.truncate(self.length(sequence, exponent));
        numbers.resize(values_per_frame(&self.config).get(), 0);
        (header, numbers)
    }

    /// Returns the floats that a sum of values stands for.
    pub fn floats(&self, sequence: u8, sum: Sum) -> Vec<f32> {
        let mut floats = vec![0.0; self.values(sequence)];
        for (generation, chunk, worker, count) in digits(sum) {
            let term = self.term(generation, chunk, worker);
            floats.iter_mut().zip(&term).for_each(|(float, value)| *float += value * f32::from(count));
        }
        if self.config.maximum(sequence) == NOT_FINITE {
            floats.fill(f32::NAN);
        }
        floats
    }

    /// Floats of all chunks of values, by tensor.
    fn tensors(&self, chunks: u8, floats: impl Fn(u8) -> Vec<f32>) -> Vec<Vec<f32>> {
        let mut tensors = vec![Vec::new(); self.config.scaled.max(1).into()];
        for chunk in (0..chunks).filter(|chunk| !self.config.is_of_maxima(*chunk)) {
            tensors[usize::from(self.config.tensor(chunk))].extend(floats(chunk));
        }
        tensors
    }

    /// Returns the tensor that a worker sums.
    pub fn gradients(&self, rank: u8, generation: Generation) -> Vec<Vec<f32>> {
        let generation = if generation == Generation::Second { SECOND_GENERATION } else { 0 };
        self.tensors(self.config.chunks_of(rank), |chunk| {
            // A life that is not the first scales nothing.
            let generation = if self.config.scaled > 0 { self.config.maximum(chunk) } else { generation };
            self.term(generation, chunk, rank)
        })
    }

    /// Returns the tensor that a worker sums after a shorter one.
    pub fn next_tensor(&self, rank: u8) -> Vec<f32> {
        let first = self.config.chunks_of(rank);
        let chunk = |sequence: u8| self.term(NEXT_TENSOR, sequence.min(MAX_CHUNKS - 1), rank);
        (first..2 * first + 1).flat_map(chunk).collect()
    }

    /// Returns the sums that every worker should end with.
    pub fn sums(&self) -> Vec<Vec<f32>> {
        self.tensors(self.config.chunks, |chunk| {
            let generation = self.config.maximum(chunk);
            let terms = (0..self.config.workers).map(|rank| Sum::term(generation, chunk, rank));
            self.floats(chunk, terms.fold(self.config.of_others(chunk), |sum, term| sum + term))
        })
    }
}

/// Returns the bits of floats: any NaN is equal to another.
pub fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| if float.is_nan() { f32::NAN } else { *float }.to_bits()).collect()
}
