//! Gradients between sites, and their sums.
//!
//! **Rounding.** Each site [rounds](round) its own values of a block to multiples of the last bit of the
//! block's largest value, half to even. A block is 256 values of a tensor, counted from its start, as inside
//! sites. Tensors of up to 256 values are not rounded.
//!
//! **Sums** are exact: the sum of the sites' rounded values as real numbers, rounded once to the nearest
//! float. The bits are therefore a function of the sites' gradients only. A site sends its values without any
//! knowledge of another site: of its chunks, the trees, the plan, or earlier rounds.
//!
//! **Error bound.** Rounding a site's block has an error of at most half of the last bit of its largest
//! value, which is at most 2^-24 of that value. Before the conversion to float, a sum of N sites has an error
//! of at most N · 2^-24 of the largest value of its block at any site. Sums of tensors of up to 256 values
//! have no such error.
//!
//! **In messages** the values of a block, in runs of 256 of a chunk, are integers times a power of two, the
//! unit. All values of a run have the same number of 32-bit words, the least that is needed. A site's values
//! of a long tensor take one word. So does a sum below 2^31 times the smallest last bit of the sites' largest
//! values: of eight sites, where the largest values differ by less than a factor of 16. Runs of zeros take no
//! words. Sums with a larger spread are longer.
//!
//! **NaN and infinities** are sent as the number of the site that has them, the lowest if there are several.
//! All sites learn of them with the sum, and no site applies the sum.

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

/// Rounds a site's values of a tensor of `tensor_values` values; `values` are the whole tensor or whole
/// blocks of it.
pub fn round(values: &mut [f32], tensor_values: usize) {
    if tensor_values <= EXACT_VALUES {
        return;
    }
    let mut integers = Vec::with_capacity(BLOCK_VALUES);
    for block in values.chunks_mut(BLOCK_VALUES) {
        // Non-finite values are reported by site instead.
        let largest = largest_size(block);
        if exponent_of(largest).is_none() {
            continue;
        }
        // Below the normal floats, the last bit is that of the smallest normal float.
        let last_bit = (largest >> (f32::MANTISSA_DIGITS - 1)).max(1) - TO_LAST_BIT;
        integers.clear();
        quantize(block, last_bit, &mut integers);
        block.iter_mut().zip(&integers).for_each(|(value, integer)| *value = dequantize(*integer, last_bit));
    }
}

/// Encoding of the values of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// Exponent of the unit, plus 149: values are integers times 2^(unit - 149).
    pub unit: u8,
    /// Number of 32-bit words of each value, in two's complement.
    pub words: u8,
}

impl Run {
    /// Run of zeros, with any unit.
    const ZEROS: Run = Run { unit: u8::MAX, words: 0 };

    fn value_bytes(self) -> usize {
        usize::from(self.words) * VALUE_BYTES
    }

    /// Whether all words belong to an [`ExactSum`].
    fn is_possible(self) -> bool {
        let before_last = u32::from(self.words).saturating_sub(1) * u32::BITS;
        self.words == 0 || u32::from(self.unit) + before_last < SUM_BITS
    }
}

/// Exact sum of one chunk over some sites.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChunkSum {
    /// Encoding of each [`BLOCK_VALUES`] values of the chunk.
    pub runs: Vec<Run>,
    /// Words of all values, run by run, lowest word first, little-endian.
    pub words: Bytes,
    /// Lowest-numbered site with a NaN or an infinity. Such a sum has no values.
    pub not_finite: Option<SiteNo>,
}

impl ChunkSum {
    /// Creates a chunk without values, which sites send in the final round.
    pub fn empty() -> Self {
        ChunkSum { runs: Vec::new(), words: Bytes::new(), not_finite: None }
    }

    fn not_finite(site: SiteNo) -> Self {
        ChunkSum { not_finite: Some(site), ..ChunkSum::empty() }
    }

    /// Creates one site's contribution from its [rounded](round) values.
    pub fn of(values: &[f32], me: SiteNo) -> Self {
        if first_not_finite(values).is_some() {
            return ChunkSum::not_finite(me);
        }
        let mut written = Written::with_capacity(values.len());
        for run in values.chunks(BLOCK_VALUES) {
            let places = run.iter().filter_map(|value| places(*value));
            let around = places.reduce(|(lowest, end), (first, after)| (first.min(lowest), after.max(end)));
            // A unit is a byte; above the largest unit, integers are longer by some zeros, and still fit a
            // word.
            let around = around.map(|(lowest, end)| (lowest.min(u8::MAX.into()), end));
            match around {
                None => written.runs.push(Run::ZEROS),
                Some((lowest, end)) if end - lowest < u32::BITS => {
                    let units = power_of_two(149 - lowest as i32);
                    // Exact: integers that fit.
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

    /// Returns the length of the longest sum of `values` values, including the other fields of its message,
    /// in bytes.
    pub fn most_bytes(values: usize) -> u64 {
        let words = SUM_BITS.div_ceil(u32::BITS) as usize * VALUE_BYTES;
        (values * words + values.div_ceil(BLOCK_VALUES) * size_of::<Run>()) as u64 + 4096
    }

    /// Whether the sum has `values` values.
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

    /// Returns each run with its words.
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let mut rest = &self.words[..];
        self.runs.iter().map(move |run| {
            // The last run may be shorter.
            let (bytes, others) = rest.split_at((BLOCK_VALUES * run.value_bytes()).min(rest.len()));
            rest = others;
            Part { run: *run, bytes }
        })
    }

    /// Writes the floats nearest to the sum; NaN everywhere if a site had a NaN or an infinity. `values` must
    /// have the length of the chunk.
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

/// Run of a sum.
#[derive(Clone, Copy)]
struct Part<'a> {
    run: Run,
    bytes: &'a [u8],
}

impl Part<'_> {
    /// Returns the values of a run of one-word values, in units smaller by `bits` bits.
    fn integers(&self, bits: u32) -> impl Iterator<Item = i64> {
        words(self.bytes).map(move |word| i64::from(word as i32) << bits)
    }

    /// Returns the values of the run.
    fn sums(&self) -> impl Iterator<Item = ExactSum> {
        let unit = self.run.unit.into();
        self.bytes.chunks_exact(self.run.value_bytes().max(1)).map(move |bytes| {
            let mut sum = ExactSum::default();
            sum.add_words(words(bytes), unit);
            sum
        })
    }
}

/// Sum that is being written.
struct Written {
    runs: Vec<Run>,
    words: BytesMut,
    /// Values of one run.
    integers: Vec<i64>,
}

impl Written {
    /// Creates a buffer for `values` one-word values.
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

    /// Adds a run of sums, which are multiples of the unit.
    fn add_sums(&mut self, unit: u8, sums: impl Iterator<Item = ExactSum>) {
        let all: Vec<_> = sums.map(|sum| sum.words(unit.into())).collect();
        let words = all.iter().map(|words| needed(words)).max().unwrap_or(0);
        self.runs.push(Run { unit, words: words as u8 });
        all.iter().flat_map(|of_one| &of_one[..words]).for_each(|word| self.words.put_u32_le(*word));
    }
}

/// Returns how many words represent a number in two's complement; 0 for zero.
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

/// Returns the lowest bit of a finite float, and one past the highest, in units of 2^-149; `None` for zero.
fn places(value: f32) -> Option<(u32, u32)> {
    let (fraction, biased) = (value.to_bits() & 0x7f_ffff, value.to_bits() >> 23 & 0xff);
    let (mantissa, place) = if biased == 0 { (fraction, 0) } else { (fraction | 0x80_0000, biased - 1) };
    (mantissa != 0).then(|| (place + mantissa.trailing_zeros(), place + u32::BITS - mantissa.leading_zeros()))
}

/// Returns 2^power, exactly.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}
