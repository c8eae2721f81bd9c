//! Feedback of a result in addition to its sum.

use core::fmt;

use crate::{BitmapIndex, ChunkSeq, Contributors, Group};

/// Feedback of a server to all workers with every result, in the 64 bits where other frames name their
/// contributors: a result needs none, since it contains all workers.
///
/// From the most significant bit: 32 bits, bit i for the bitmap indices i, i + 32, ...; then two distances
/// from the result's sequence, signed, 16 bits each: to the chunk that lacks those bitmap indices, and to the
/// chunk whose result was sent before. A distance of 0 means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Chunk whose result was sent before this one: it has ended, even if this worker lacks the result.
    pub ended: Option<ChunkSeq>,
    /// Incomplete chunk with a complete later one, and its missing contributors.
    pub lacking: Option<(ChunkSeq, Lacking)>,
}

/// Bitmap indices, those that differ by a multiple of 32 taken for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lacking(u32);

impl Lacking {
    /// Returns the bitmap indices below 32, which represent all.
    pub fn bitmap_indices(self) -> Contributors {
        Contributors { bitmap: self.0.into(), group: Group(0) }
    }

    /// Returns whether that bitmap index may be among them.
    pub fn may_include(self, bitmap_index: BitmapIndex) -> bool {
        self.0 >> (bitmap_index.get() % 32) & 1 == 1
    }
}

impl FromIterator<BitmapIndex> for Lacking {
    fn from_iter<T: IntoIterator<Item = BitmapIndex>>(bitmap_indices: T) -> Self {
        Self(bitmap_indices.into_iter().fold(0, |bits, bitmap_index| bits | 1 << (bitmap_index.get() % 32)))
    }
}

impl Feedback {
    /// Reads the feedback of the result of `sequence`.
    pub fn parse(sequence: ChunkSeq, bits: u64) -> Self {
        let chunk = |distance: u64| {
            let distance = distance as u16 as i16;
            (distance != 0).then(|| sequence.advance(i32::from(distance) as u32))
        };
        Self {
            ended: chunk(bits),
            lacking: chunk(bits >> 16).map(|chunk| (chunk, Lacking((bits >> 32) as u32))),
        }
    }

    /// Returns the feedback bits of the result of `sequence`; chunks too far from it are left out.
    pub fn bits(self, sequence: ChunkSeq) -> u64 {
        let distance = |chunk: ChunkSeq| {
            i16::try_from(chunk.since(sequence) as i32).map_or(0, |distance| distance as u16)
        };
        let ended = self.ended.map_or(0, distance);
        let (at, lacking) = self.lacking.map_or((0, 0), |(chunk, lacking)| (distance(chunk), lacking.0));
        u64::from(ended) | u64::from(at) << 16 | u64::from(lacking) << 32
    }
}

impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ended {
            Some(chunk) => write!(f, "after {chunk}")?,
            None => f.write_str("after none")?,
        }
        match self.lacking {
            Some((chunk, lacking)) => write!(f, ", {chunk} lacks {}", lacking.bitmap_indices()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap_index(number: u16) -> BitmapIndex {
        BitmapIndex::try_from(number).expect("bitmap indices of the tests exist")
    }

    fn seq(number: u32) -> ChunkSeq {
        ChunkSeq::default().advance(number)
    }

    #[test]
    fn feedback_round_trips() {
        let bitmap_indices: Lacking = [3, 40].map(bitmap_index).into_iter().collect();
        for (sequence, ended, at) in [(7, 5, 30), (0, u32::MAX, 32_767), (u32::MAX, 0, u32::MAX - 32_768)] {
            let feedback = Feedback { ended: Some(seq(ended)), lacking: Some((seq(at), bitmap_indices)) };
            assert_eq!(Feedback::parse(seq(sequence), feedback.bits(seq(sequence))), feedback);
        }
        let includes = |number| bitmap_indices.may_include(bitmap_index(number));
        assert!(includes(3) && includes(8) && includes(40) && !includes(4));
    }

    #[test]
    fn chunks_too_far_away_are_left_out() {
        let far = Feedback { ended: Some(seq(32_768)), lacking: None };
        assert_eq!(Feedback::parse(seq(0), far.bits(seq(0))), Feedback::default());
        assert_eq!(Feedback::parse(seq(9), 0), Feedback::default());
    }
}
