//! Gradients between sites, and their sums.
//!
//! **Rounding.** Each site [rounds](round) its own values of a block to whole multiples of the last bit of
//! the largest of them, half to even. A block is 256 values of a tensor, from its start, as inside sites.
//! Values of tensors of up to 256 are given as they are.
//!
//! **Sums** are exact: the sum of what all sites give, as real numbers, rounded once to the nearest float. So
//! its bits are a function of the sites' gradients alone, and no site has to know anything of another's
//! before it gives its own: not of the chunks, the trees, the plan, or the rounds before.
//!
//! **Error bound.** Rounding a site's block errs by at most half of the last bit of its largest value, which
//! is at most 2^-24 of that. So before it is read as a float, a sum of N sites errs by at most N · 2^-24 of
//! the largest value of its block at any site; sums of tensors of up to 256 values do not err at all.
//!
//! **In messages** the values of a block, in runs of 256 of a chunk, are integers times a power of two, the
//! unit: all of the run in as few words of 32 bits as they need. What one site gives of a long tensor takes
//! one word, and so does a sum below 2^31 times the last bit of the largest value at the site where that is
//! least: of eight sites, where the largest values differ by less than a factor of 16. Runs of zeros take
//! none. Sums that spread further are longer.
//!
//! **NaN and infinities** travel as the number of the site that has them, the least if there are several: all
//! sites learn it with the sum, and none applies it.

use bytes::{BufMut, Bytes, BytesMut};
use inart_protocol_aggregation::exact_sum::{EXACT_VALUES, ExactSum};
use inart_protocol_aggregation::scale::{
    BLOCK_VALUES, dequantize, exponent_of, first_not_finite, largest_size, quantize,
};
use inart_protocol_sites::{SiteNo, Summand};

/// Bytes of a value in a gradient, and of a word.
pub const VALUE_BYTES: usize = 4;
/// Bits of an [`ExactSum`].
const SUM_BITS: u32 = 320;
/// From the biased exponent of a value to that of its last bit.
const TO_LAST_BIT: i32 = 150;

/// Rounds a site's values of a tensor of `tensor_values`: all of it, or whole blocks of it.
pub fn round(values: &mut [f32], tensor_values: usize) {
    if tensor_values <= EXACT_VALUES {
        return;
    }
    let mut integers = Vec::with_capacity(BLOCK_VALUES);
    for block in values.chunks_mut(BLOCK_VALUES) {
        // What is not finite is told instead.
        let largest = largest_size(block);
        if exponent_of(largest).is_none() {
            continue;
        }
        // Below the normal floats the last bit is that of the least of them.
        let last_bit = (largest >> (f32::MANTISSA_DIGITS - 1)).max(1) - TO_LAST_BIT;
        integers.clear();
        quantize(block, last_bit, &mut integers);
        block.iter_mut().zip(&integers).for_each(|(value, integer)| *value = dequantize(*integer, last_bit));
    }
}

/// How the values of a run are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// They are integers times 2 to this, less 149.
    pub unit: u8,
    /// 32-bit words of each, in two's complement.
    pub words: u8,
}

impl Run {
    /// Zeros, which have any unit.
    const ZEROS: Run = Run { unit: u8::MAX, words: 0 };

    fn value_bytes(self) -> usize {
        usize::from(self.words) * VALUE_BYTES
    }

    /// Whether all words are those of an [`ExactSum`].
    fn is_possible(self) -> bool {
        let before_last = u32::from(self.words).saturating_sub(1) * u32::BITS;
        self.words == 0 || u32::from(self.unit) + before_last < SUM_BITS
    }
}

/// The sum of one chunk over some sites: exact.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChunkSum {
    /// Of each [`BLOCK_VALUES`] values of the chunk.
    pub runs: Vec<Run>,
    /// All values, run by run: the words of each, the lowest first, in little-endian order.
    pub words: Bytes,
    /// The least site with a NaN or an infinity. Such a sum has no values.
    pub not_finite: Option<SiteNo>,
}

impl ChunkSum {
    /// A chunk without values: what sites send in the round that has none.
    pub fn empty() -> Self {
        ChunkSum { runs: Vec::new(), words: Bytes::new(), not_finite: None }
    }

    fn not_finite(site: SiteNo) -> Self {
        ChunkSum { not_finite: Some(site), ..ChunkSum::empty() }
    }

    /// What one site gives: its [rounded](round) values.
    pub fn of(values: &[f32], me: SiteNo) -> Self {
        if first_not_finite(values).is_some() {
            return ChunkSum::not_finite(me);
        }
        let mut written = Written::with_capacity(values.len());
        for run in values.chunks(BLOCK_VALUES) {
            let places = run.iter().filter_map(|value| places(*value));
            let around = places.reduce(|(lowest, end), (first, after)| (first.min(lowest), after.max(end)));
            // A unit is a byte; above the largest of them integers are longer by some zeros, and still fit a
            // word.
            let around = around.map(|(lowest, end)| (lowest.min(u8::MAX.into()), end));
            match around {
                None => written.runs.push(Run::ZEROS),
                Some((lowest, end)) if end - lowest < u32::BITS => {
                    let units = power_of_two(149 - lowest as i32);
                    // Exact: whole numbers that fit.
                    let integer = |value: &f32| (f64::from(*value) * units) as i64;
                    written.add_integers(lowest as u8, run.iter().map(integer));
                }
                Some((lowest, _)) => {
                    let sum_of_one = |value: &f32| {
                        let mut sum = ExactSum::default();
                        sum.add(*value);
                        sum
                    };
                    written.add_sums(lowest as u8, run.iter().map(sum_of_one));
                }
            }
        }
        written.sum()
    }

    /// Bytes of the longest sum of so many values, and of what a message has beside them.
    pub fn most_bytes(values: usize) -> u64 {
        let words = SUM_BITS.div_ceil(u32::BITS) as usize * VALUE_BYTES;
        (values * words + values.div_ceil(BLOCK_VALUES) * size_of::<Run>()) as u64 + 4096
    }

    /// Whether it is a sum of so many values.
    pub fn is_of(&self, values: usize) -> bool {
        if self.not_finite.is_some() {
            return self.runs.is_empty() && self.words.is_empty();
        }
        let lengths = (0..values).step_by(BLOCK_VALUES).map(|start| BLOCK_VALUES.min(values - start));
        let bytes = lengths.zip(&self.runs).map(|(length, run)| length * run.value_bytes());
        self.runs.len() == values.div_ceil(BLOCK_VALUES)
            && self.runs.iter().all(|run| run.is_possible())
            && self.words.len() == bytes.sum::<usize>()
    }

    /// Each run and its words.
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let mut rest = &self.words[..];
        self.runs.iter().map(move |run| {
            // The last may be shorter.
            let (bytes, others) = rest.split_at((BLOCK_VALUES * run.value_bytes()).min(rest.len()));
            rest = others;
            Part { run: *run, bytes }
        })
    }

    /// Writes the floats nearest to the sum; NaN everywhere if a site had one or an infinity. `values` has to
    /// be as long as the chunk.
    pub fn write(&self, values: &mut [f32]) {
        if self.not_finite.is_some() {
            return values.fill(f32::NAN);
        }
        for (floats, part) in values.chunks_mut(BLOCK_VALUES).zip(self.parts()) {
            match part.run.words {
                0 => floats.fill(0.0),
                1 => {
                    let step = i32::from(part.run.unit) - 149;
                    let integers = words(part.bytes).map(|word| dequantize(word as i32, step));
                    floats.iter_mut().zip(integers).for_each(|(float, value)| *float = value);
                }
                _ => floats.iter_mut().zip(part.sums()).for_each(|(float, sum)| *float = sum.rounded()),
            }
        }
    }
}

impl Summand for ChunkSum {
    fn add(&mut self, other: &Self) {
        if let Some(site) = [self.not_finite, other.not_finite].into_iter().flatten().min() {
            *self = ChunkSum::not_finite(site);
        } else if self.runs.is_empty() {
            self.clone_from(other);
        } else {
            let mut written = Written::with_capacity(self.words.len().max(other.words.len()) / VALUE_BYTES);
            self.parts().zip(other.parts()).for_each(|(ours, theirs)| written.add(ours, theirs));
            *self = written.sum();
        }
    }
}

/// A run of a sum.
#[derive(Clone, Copy)]
struct Part<'a> {
    run: Run,
    bytes: &'a [u8],
}

impl Part<'_> {
    /// The values of a run of a word each, in units that are less by so many bits.
    fn integers(&self, bits: u32) -> impl Iterator<Item = i64> {
        words(self.bytes).map(move |word| i64::from(word as i32) << bits)
    }

    /// The values.
    fn sums(&self) -> impl Iterator<Item = ExactSum> {
        let unit = self.run.unit.into();
        self.bytes.chunks_exact(self.run.value_bytes().max(1)).map(move |bytes| {
            let mut sum = ExactSum::default();
            sum.add_words(words(bytes), unit);
            sum
        })
    }
}

/// A sum that is being written.
struct Written {
    runs: Vec<Run>,
    words: BytesMut,
    /// Of one run.
    integers: Vec<i64>,
}

impl Written {
    /// With room for so many values of a word each.
    fn with_capacity(values: usize) -> Self {
        Self {
            runs: Vec::with_capacity(values.div_ceil(BLOCK_VALUES)),
            words: BytesMut::with_capacity(values * VALUE_BYTES),
            integers: Vec::with_capacity(BLOCK_VALUES.min(values)),
        }
    }

    fn sum(self) -> ChunkSum {
        ChunkSum { runs: self.runs, words: self.words.freeze(), not_finite: None }
    }

    /// Adds the sum of two runs of the same length.
    fn add(&mut self, ours: Part<'_>, theirs: Part<'_>) {
        let (low, high) = if ours.run.unit <= theirs.run.unit { (ours, theirs) } else { (theirs, ours) };
        let (unit, bits) = (low.run.unit, u32::from(high.run.unit - low.run.unit));
        if high.run.words == 0 {
            self.runs.push(low.run);
            self.words.put_slice(low.bytes);
        } else if low.run.words <= 1 && high.run.words == 1 && bits < u32::BITS {
            let low = low.integers(0).chain(std::iter::repeat(0));
            self.add_integers(unit, high.integers(bits).zip(low).map(|(high, low)| high + low));
        } else {
            let low = low.sums().chain(std::iter::repeat(ExactSum::default()));
            let of_high = high.bytes.chunks_exact(high.run.value_bytes());
            self.add_sums(
                unit,
                of_high.zip(low).map(|(bytes, mut sum)| {
                    sum.add_words(words(bytes), high.run.unit.into());
                    sum
                }),
            );
        }
    }

    /// Adds a run of integers, in units.
    fn add_integers(&mut self, unit: u8, integers: impl Iterator<Item = i64>) {
        self.integers.clear();
        self.integers.extend(integers);
        let (integers, start) = (&self.integers, self.words.len());
        let most = integers.iter().fold(0, |most, value| most.max(value ^ value >> 63));
        let words = match i32::try_from(most) {
            Ok(0) if integers.iter().all(|value| *value == 0) => 0,
            Ok(_) => 1,
            Err(_) => 2,
        };
        let run = Run { unit, words };
        self.runs.push(run);
        self.words.resize(start + integers.len() * run.value_bytes(), 0);
        let room = &mut self.words[start..];
        match words {
            0 => {}
            1 => room.as_chunks_mut().0.iter_mut().zip(integers).for_each(|(word, value)| {
                *word = (*value as i32).to_le_bytes();
            }),
            _ => room.as_chunks_mut().0.iter_mut().zip(integers).for_each(|(words, value)| {
                *words = value.to_le_bytes();
            }),
        }
    }

    /// Adds a run of sums, which are whole numbers of units.
    fn add_sums(&mut self, unit: u8, sums: impl Iterator<Item = ExactSum>) {
        let all: Vec<_> = sums.map(|sum| sum.words(unit.into())).collect();
        let words = all.iter().map(|words| needed(words)).max().unwrap_or(0);
        self.runs.push(Run { unit, words: words as u8 });
        all.iter().flat_map(|of_one| &of_one[..words]).for_each(|word| self.words.put_u32_le(*word));
    }
}

/// How many of a number's words say all of it, in two's complement; none of zero.
fn needed(words: &[u32]) -> usize {
    let sign = words.last().map_or(0, |last| (*last as i32 >> 31) as u32);
    let end = words.iter().rposition(|word| *word != sign).map_or(0, |last| last + 1);
    match end.checked_sub(1).map(|last| words[last]) {
        None => usize::from(sign != 0),
        Some(last) => end + usize::from((last ^ sign) >> 31 == 1),
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}

/// The lowest bit of a finite float, and one past the highest, in units of 2^-149; none of a zero.
fn places(value: f32) -> Option<(u32, u32)> {
    let (fraction, biased) = (value.to_bits() & 0x7f_ffff, value.to_bits() >> 23 & 0xff);
    let (mantissa, place) = if biased == 0 { (fraction, 0) } else { (fraction | 0x80_0000, biased - 1) };
    (mantissa != 0).then(|| (place + mantissa.trailing_zeros(), place + u32::BITS - mantissa.leading_zeros()))
}

/// 2^power, exactly.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}
