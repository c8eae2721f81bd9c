//! Partition of a tensor.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{ShardId, ValuesPerFrame};

use crate::Assignment;
use crate::exact_sum::{DIGITS_VALUES, Digits, EXACT_VALUES};
use crate::scale::BLOCK_VALUES;

/// Content of a frame of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// The sizes of the largest values of these blocks.
    Maxima(Range<usize>),
    /// These values, each scaled by its block.
    Scaled(Range<usize>),
    /// These values, as the digits of exact sums.
    Digits(Range<usize>),
    /// These values, as floats that only the server sums.
    Floats(Range<usize>),
}

impl Chunk {
    /// Returns the tensor's values whose sums are in the chunk's result.
    pub fn values(&self) -> Range<usize> {
        match self {
            Self::Maxima(_) => 0..0,
            Self::Scaled(values) | Self::Digits(values) | Self::Floats(values) => values.clone(),
        }
    }
}

/// Partition of a tensor of a given length into shards by their shares, and of shards into chunks of one
/// frame each. Equal at every host of a job.
///
/// Shards are contiguous, in the order of their numbers, and whole blocks except for the tensor's last one. A
/// shard ends at the rounded sum of the shares up to it. A shard's maxima precede its values.
///
/// Exact sums need no maxima. A tensor of up to [`DIGITS_VALUES`] is sent as digits, and so is any of more
/// than [`EXACT_VALUES`] in an exact-sum job; tensors between these lengths are sent as floats. Chunks are
/// full except for the last of a shard's maxima and of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    shards: Vec<Range<usize>>,
    values_per_frame: usize,
    form: Form,
}

/// Number format of a tensor's values in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Scaled,
    Digits(Digits),
    Floats,
}

impl Split {
    /// Cuts a tensor of `len` values for a valid assignment.
    pub fn new(assignment: &Assignment, len: usize) -> Self {
        let form = if len > DIGITS_VALUES && len <= EXACT_VALUES {
            Form::Floats
        } else if len <= DIGITS_VALUES || assignment.exact_sums {
            Form::Digits(Digits::for_workers(assignment.workers.len()))
        } else {
            Form::Scaled
        };
        let shares = assignment.shards.iter().map(|shard| shard.share);
        Self::of_shares(shares, assignment.values_per_frame, form, len)
    }

    fn of_shares(
        shares: impl ExactSizeIterator<Item = f64> + Clone,
        values_per_frame: ValuesPerFrame,
        form: Form,
        len: usize,
    ) -> Self {
        let total: f64 = shares.clone().sum();
        let blocks = len.div_ceil(BLOCK_VALUES);
        let last = shares.len().saturating_sub(1);
        let (mut start, mut shares_up_to) = (0, 0.0);
        let shards = shares.enumerate().map(|(shard, share)| {
            shares_up_to += share;
            let rounded = (blocks as f64 * shares_up_to / total + 0.5) as usize;
            let end = if shard == last { blocks } else { rounded.clamp(start, blocks) };
            let range = (start * BLOCK_VALUES).min(len)..(end * BLOCK_VALUES).min(len);
            start = end;
            range
        });
        let shards = shards.collect();
        Self { shards, values_per_frame: values_per_frame.get(), form }
    }

    /// Returns the number of integers per value in frames.
    pub fn numbers_per_value(&self) -> usize {
        match self.form {
            Form::Digits(digits) => digits.per_float(),
            Form::Scaled | Form::Floats => 1,
        }
    }

    /// Values of a full chunk of values.
    fn per_chunk(&self) -> usize {
        self.values_per_frame / self.numbers_per_value()
    }

    /// Returns the blocks of a shard whose maxima workers have to know.
    fn scaled_blocks(&self, shard: &Range<usize>) -> Range<usize> {
        match self.form {
            Form::Scaled if !shard.is_empty() => shard.start / BLOCK_VALUES..shard.end.div_ceil(BLOCK_VALUES),
            _ => 0..0,
        }
    }

    /// The values of each shard.
    pub fn shards(&self) -> &[Range<usize>] {
        &self.shards
    }

    /// Returns the number of chunks of a shard, or 0 for an unknown shard.
    pub fn chunk_count(&self, shard: ShardId) -> usize {
        self.shards.get(shard.index()).map_or(0, |values| {
            let maxima = self.scaled_blocks(values).len().div_ceil(self.values_per_frame);
            maxima + values.len().div_ceil(self.per_chunk())
        })
    }

    /// Every chunk: those of shard 0 first, each shard's in the order of their sequence.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk> {
        self.shards.iter().flat_map(|shard| {
            let of_values = match self.form {
                Form::Scaled => Chunk::Scaled,
                Form::Digits(_) => Chunk::Digits,
                Form::Floats => Chunk::Floats,
            };
            let maxima = pieces(self.scaled_blocks(shard), self.values_per_frame).map(Chunk::Maxima);
            maxima.chain(pieces(shard.clone(), self.per_chunk()).map(of_values))
        })
    }
}

/// A range in pieces of that length; the last may be shorter.
fn pieces(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(length).map(move |start| start..(start + length).min(range.end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec;

    use super::*;
    use Chunk::{Maxima, Scaled};

    fn split(shares: &[f64], values: ValuesPerFrame, form: Form, len: usize) -> Split {
        Split::of_shares(shares.iter().copied(), values, form, len)
    }

    #[test]
    fn shards_are_whole_blocks_and_their_maxima_come_first() {
        let cut = split(&[0.6, 0.4], ValuesPerFrame::N256, Form::Scaled, 600);
        assert_eq!(cut.shards(), [0..512, 512..600]);
        let chunks = [Maxima(0..2), Scaled(0..256), Scaled(256..512), Maxima(2..3), Scaled(512..600)];
        assert_eq!(cut.chunks().collect::<Vec<_>>(), chunks);
        assert_eq!([0, 1, 2].map(|shard: u16| cut.chunk_count(ShardId::from(shard))), [3, 2, 0]);
    }

    #[test]
    fn a_block_may_take_several_frames_and_a_frame_have_several_blocks() {
        let cut = split(&[1.0], ValuesPerFrame::N64, Form::Scaled, 300);
        let chunks = [
            Maxima(0..2),
            Scaled(0..64),
            Scaled(64..128),
            Scaled(128..192),
            Scaled(192..256),
            Scaled(256..300),
        ];
        assert_eq!(cut.chunks().collect::<Vec<_>>(), chunks);
        let cut = split(&[1.0], ValuesPerFrame::N1024, Form::Scaled, 1100);
        assert_eq!(cut.chunks().collect::<Vec<_>>(), vec![Maxima(0..5), Scaled(0..1024), Scaled(1024..1100)]);
    }

    #[test]
    fn digits_of_a_value_are_in_one_frame() {
        let digits = Digits::for_workers(4);
        assert_eq!(digits.per_float(), 12);
        let cut = split(&[0.5, 0.5], ValuesPerFrame::N32, Form::Digits(digits), 5);
        assert_eq!(cut.shards(), [0..256, 256..256].map(|range| range.start.min(5)..range.end.min(5)));
        assert_eq!(cut.chunks().collect::<Vec<_>>(), [0..2, 2..4, 4..5].map(Chunk::Digits));
    }

    #[test]
    fn floats_fill_frames() {
        let cut = split(&[0.5, 0.5], ValuesPerFrame::N64, Form::Floats, 150);
        assert_eq!(cut.chunks().collect::<Vec<_>>(), [0..64, 64..128, 128..150].map(Chunk::Floats));
        assert_eq!([0, 1].map(|shard: u16| cut.chunk_count(ShardId::from(shard))), [3, 0]);
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_chunk_and_shards_are_as_large_as_their_shares(
            weights in proptest::collection::vec(0.0..1.0f64, 1..9),
            len in 0..50_000usize,
            form in proptest::sample::select(vec![
                Form::Scaled,
                Form::Floats,
                Form::Digits(Digits::for_workers(9)),
            ]),
            values in proptest::sample::select(&ValuesPerFrame::ALL[..]),
        ) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.0);
            let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let cut = split(&shares, values, form, len);
            let exact = form != Form::Scaled;
            let (mut at, mut block) = (0, 0);
            for chunk in cut.chunks() {
                match chunk {
                    Maxima(blocks) => {
                        prop_assert!(!blocks.is_empty() && blocks.len() <= values.get());
                        prop_assert_eq!(std::mem::replace(&mut block, blocks.end), blocks.start);
                    }
                    Scaled(range) | Chunk::Digits(range) | Chunk::Floats(range) => {
                        prop_assert!(!range.is_empty() && range.len() <= values.get());
                        prop_assert_eq!(std::mem::replace(&mut at, range.end), range.start);
                        // Its maxima precede it.
                        prop_assert!(exact || at <= block * BLOCK_VALUES);
                    }
                }
            }
            prop_assert_eq!(at, len);
            prop_assert_eq!(block, if exact { 0 } else { len.div_ceil(BLOCK_VALUES) });
            let shards = 0..shares.len() as u16;
            let count: usize = shards.map(|shard| cut.chunk_count(ShardId::from(shard))).sum();
            prop_assert_eq!(count, cut.chunks().count());
            let blocks = len.div_ceil(BLOCK_VALUES) as f64;
            for (shard, share) in cut.shards().iter().zip(shares) {
                let of_shard = shard.len().div_ceil(BLOCK_VALUES) as f64;
                prop_assert!((of_shard - share * blocks).abs() <= 1.0 + 1e-6);
                let behind_block = if shard.start == len { len % BLOCK_VALUES } else { 0 };
                prop_assert_eq!(shard.start % BLOCK_VALUES, behind_block);
            }
        }
    }
}
