//! How a gradient is cut.

use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::{ShardId, ValuesPerPacket};

use crate::Assignment;

/// How a gradient of a given length is cut into shards by their shares, and shards into chunks of one frame
/// each. The same at every host of a job.
///
/// Shards are contiguous, in the order of their numbers; a shard ends where the shares up to it, added up and
/// rounded, end. The last chunk of a shard may be short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    shards: Vec<Range<usize>>,
    values_per_packet: usize,
}

impl Split {
    /// Cuts a gradient of `len` values for a valid assignment.
    pub fn new(assignment: &Assignment, len: usize) -> Self {
        Self::of_shares(assignment.shards.iter().map(|shard| shard.share), assignment.values_per_packet, len)
    }

    fn of_shares(
        shares: impl ExactSizeIterator<Item = f64> + Clone,
        values_per_packet: ValuesPerPacket,
        len: usize,
    ) -> Self {
        let total: f64 = shares.clone().sum();
        let last = shares.len().saturating_sub(1);
        let (mut start, mut shares_up_to) = (0, 0.0);
        let shards = shares.enumerate().map(|(shard, share)| {
            shares_up_to += share;
            let rounded = (len as f64 * shares_up_to / total + 0.5) as usize;
            let end = if shard == last { len } else { rounded.clamp(start, len) };
            let range = start..end;
            start = end;
            range
        });
        Self { shards: shards.collect(), values_per_packet: values_per_packet.get() }
    }

    /// The values of each shard.
    pub fn shards(&self) -> &[Range<usize>] {
        &self.shards
    }

    /// Number of chunks of a shard in one round; none for a shard the split does not have.
    pub fn chunk_count(&self, shard: ShardId) -> usize {
        self.shards.get(shard.index()).map_or(0, |values| values.len().div_ceil(self.values_per_packet))
    }

    /// The values of every chunk: those of shard 0 first, each shard's in the order of their sequence.
    pub fn chunks(&self) -> impl Iterator<Item = Range<usize>> {
        self.shards.iter().flat_map(|shard| {
            shard
                .clone()
                .step_by(self.values_per_packet)
                .map(|start| start..(start + self.values_per_packet).min(shard.end))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec;

    use super::*;

    #[test]
    fn shares_are_rounded_and_the_last_chunk_is_short() {
        let split = Split::of_shares([0.6, 0.4].into_iter(), ValuesPerPacket::N32, 101);
        assert_eq!(split.shards(), [0..61, 61..101]);
        assert_eq!(split.chunks().collect::<Vec<_>>(), vec![0..32, 32..61, 61..93, 93..101]);
        assert_eq!(split.chunk_count(ShardId::from(1)), 2);
        assert_eq!(split.chunk_count(ShardId::from(2)), 0);
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_chunk_and_shards_are_as_large_as_their_shares(
            weights in proptest::collection::vec(0.0..1.0f64, 1..9),
            len in 0..5000usize,
        ) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.0);
            let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let split = Split::of_shares(shares.iter().copied(), ValuesPerPacket::N32, len);
            let mut at = 0;
            for chunk in split.chunks() {
                prop_assert_eq!(chunk.start, at);
                prop_assert!(!chunk.is_empty() && chunk.len() <= 32);
                at = chunk.end;
            }
            prop_assert_eq!(at, len);
            for (shard, share) in split.shards().iter().zip(shares) {
                prop_assert!((shard.len() as f64 - share * len as f64).abs() <= 1.0 + 1e-6);
            }
        }
    }
}
