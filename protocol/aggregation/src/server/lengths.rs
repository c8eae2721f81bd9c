//! How long the workers' tensors are, as they tell.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use inart_wire::{AbortReason, ChunkSeq, Rank};

use crate::Instant;

/// What each worker has told about the length of the tensor that its oldest chunk without a result is of, and
/// whether lengths differ.
///
/// Up to the first chunk that does not fit, all workers' tensors have the same parts in this shard, each of
/// them at least one chunk. So workers whose oldest chunk is the same speak of the same tensor.
#[derive(Clone, Debug)]
pub(super) struct Lengths {
    /// By rank: the oldest chunk, and how many values its tensor has; `None` if the worker has not told, or
    /// not started it.
    told: Vec<Option<(ChunkSeq, u32)>>,
    /// When a difference was seen, and the rank of the worker whose frame showed it, of that chunk.
    difference: Option<(Instant, Rank, ChunkSeq)>,
}

impl Lengths {
    pub(super) fn new(workers: usize) -> Self {
        Self { told: alloc::vec![None; workers], difference: None }
    }

    /// Takes in what the worker of that rank tells of its oldest chunk's tensor.
    pub(super) fn tell(&mut self, now: Instant, rank: Rank, oldest: ChunkSeq, len: Option<u32>) {
        let told = len.map(|len| (oldest, len));
        self.told[rank.index()] = told;
        let differs = |other: &Option<(ChunkSeq, u32)>| {
            other.is_some_and(|(chunk, other)| chunk == oldest && Some(other) != len)
        };
        if told.is_some() && self.told.iter().any(differs) {
            self.differ(now, rank, oldest);
        }
    }

    /// What that worker told last, of the tensor of its oldest chunk.
    pub(super) fn told(&self, rank: Rank) -> Option<u32> {
        self.told[rank.index()].map(|(_, len)| len)
    }

    /// A frame of that worker shows that lengths differ at that chunk, or before it.
    pub(super) fn differ(&mut self, now: Instant, rank: Rank, chunk: ChunkSeq) {
        self.difference.get_or_insert((now, rank, chunk));
    }

    /// When a difference was seen, if one was.
    pub(super) fn differ_since(&self) -> Option<Instant> {
        self.difference.map(|(since, ..)| since)
    }

    /// Whether all have told of the tensor in which lengths differ.
    pub(super) fn are_known(&self) -> bool {
        let (Some(Some((chunk, len))), Some((.., differs))) = (self.told.first(), self.difference) else {
            return false;
        };
        let of_the_chunk = |told: &Option<(ChunkSeq, u32)>| told.is_some_and(|(other, _)| other == *chunk);
        let differ = self.told.iter().flatten().any(|(_, other)| other != len);
        self.told.iter().all(of_the_chunk) && (differ || *chunk == differs)
    }

    /// Why the job ends, and the culprit: the lowest rank whose tensor's length is not the most frequent
    /// one. Of lengths that are equally frequent, that of the lower rank counts as right. If all who told of
    /// the tensor agree, it is the sender of the frame that showed the difference.
    pub(super) fn verdict(&self) -> Option<(AbortReason, Rank)> {
        let (_, sender, _) = self.difference?;
        // What does not fit is never complete, so who has come furthest is there.
        let oldest = self.told.iter().flatten().map(|(chunk, _)| *chunk);
        let oldest = oldest.reduce(|one, other| if other > one { other } else { one });
        let len = |told: &Option<(ChunkSeq, u32)>| {
            told.filter(|(chunk, _)| Some(*chunk) == oldest).map(|(_, len)| len)
        };
        let mut frequency = BTreeMap::<u32, (usize, Reverse<usize>)>::new();
        for (rank, len) in self.told.iter().map(len).enumerate().filter_map(|(rank, len)| Some((rank, len?)))
        {
            frequency.entry(len).or_insert((0, Reverse(rank))).0 += 1;
        }
        let expected = frequency.iter().max_by_key(|(_, frequency)| **frequency).map_or(0, |(len, _)| *len);
        let odd = self.told.iter().map(len).position(|len| len.is_some_and(|len| len != expected));
        let culprit = odd.and_then(|rank| Rank::try_from(rank).ok()).unwrap_or(sender);
        let seen = len(&self.told[culprit.index()]).unwrap_or(expected);
        Some((AbortReason::Mismatch { seen, expected }, culprit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: usize) -> Rank {
        Rank::try_from(rank).expect("a rank")
    }

    /// Workers that told that of chunk 0.
    fn lengths(told: &[Option<u32>]) -> Lengths {
        let mut lengths = Lengths::new(told.len());
        for (index, len) in told.iter().enumerate().rev() {
            lengths.tell(Instant::START, rank(index), 0.into(), *len);
        }
        lengths
    }

    /// The culprit's rank and what is told about it, after the worker of rank `sender` sent a frame that does
    /// not fit.
    fn blamed(mut lengths: Lengths, sender: usize) -> (usize, u32, u32) {
        lengths.differ(Instant::START, rank(sender), 0.into());
        match lengths.verdict() {
            Some((AbortReason::Mismatch { seen, expected }, culprit)) => (culprit.index(), seen, expected),
            other => panic!("{other:?}"),
        }
    }

    fn verdict(told: &[Option<u32>], sender: usize) -> (usize, u32, u32) {
        blamed(lengths(told), sender)
    }

    #[test]
    fn the_odd_one_is_blamed_whoever_comes_second() {
        assert_eq!(verdict(&[Some(64), Some(96), Some(96)], 1), (0, 64, 96));
        assert_eq!(verdict(&[Some(96), Some(96), Some(64)], 0), (2, 64, 96));
        assert_eq!(verdict(&[Some(1), Some(2), Some(3), Some(3)], 3), (0, 1, 3));
        assert_eq!(verdict(&[Some(96), Some(0), None], 0), (1, 0, 96), "a tie: rank 0 counts as right");
        assert_eq!(verdict(&[Some(1), Some(2), Some(2), Some(1)], 0), (1, 2, 1));
        assert_eq!(verdict(&[Some(5), None, Some(5)], 2), (2, 5, 5), "all who told agree");
        assert_eq!(verdict(&[None, None], 1), (1, 0, 0));
    }

    #[test]
    fn differences_are_seen_where_workers_speak_of_one_tensor() {
        let mut told = lengths(&[Some(7), Some(7)]);
        assert!(told.differ_since().is_none());
        told.tell(Instant::START, rank(1), 9.into(), Some(3));
        assert!(told.differ_since().is_none(), "it is further, maybe in another tensor");
        told.tell(Instant::START, rank(0), 9.into(), None);
        assert!(told.differ_since().is_none(), "it has not started that");
        told.tell(Instant::START, rank(0), 9.into(), Some(4));
        assert!(told.differ_since().is_some() && told.are_known());
        assert_eq!(blamed(told, 0), (1, 3, 4));
    }

    #[test]
    fn a_frame_that_does_not_fit_waits_for_what_is_told_of_its_tensor() {
        let mut told = lengths(&[Some(7), Some(7)]);
        told.differ(Instant::START, rank(1), 9.into());
        assert!(!told.are_known(), "lengths of the tensor before are the same");
        told.tell(Instant::START, rank(0), 9.into(), Some(3));
        assert!(!told.are_known());
        told.tell(Instant::START, rank(1), 9.into(), Some(3));
        assert!(told.are_known(), "nothing more can be told");
    }

    #[test]
    fn what_was_told_of_tensors_before_says_nothing() {
        let mut told = lengths(&[Some(5), Some(6), Some(6)]);
        told.tell(Instant::START, rank(1), 9.into(), Some(2));
        told.tell(Instant::START, rank(2), 9.into(), Some(3));
        assert_eq!(blamed(told, 0), (2, 3, 2));
    }
}
