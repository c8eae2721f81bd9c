//! Lengths of the workers' tensors, as reported by them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use inart_wire::{AbortReason, ChunkSeq, Rank};

use crate::Instant;

/// Reported lengths of the tensors of each worker's oldest chunk without a result, and whether lengths
/// differ.
///
/// Up to the first chunk that does not fit, all workers' tensors have equal parts in this shard, each of at
/// least one chunk. So workers whose oldest chunk is the same report on the same tensor.
#[derive(Clone, Debug)]
pub(super) struct Lengths {
    /// Oldest chunk and its tensor's length by rank; `None` if the worker has not reported it, or has not
    /// started the tensor.
    reported: Vec<Option<(ChunkSeq, u32)>>,
    /// Time of the first difference, and the rank of the worker whose frame showed it, with its chunk.
    difference: Option<(Instant, Rank, ChunkSeq)>,
}

impl Lengths {
    pub(super) fn new(workers: usize) -> Self {
        Self { reported: alloc::vec![None; workers], difference: None }
    }

    /// Records a worker's report on its oldest chunk's tensor.
    pub(super) fn report(&mut self, now: Instant, rank: Rank, oldest: ChunkSeq, len: Option<u32>) {
        let reported = len.map(|len| (oldest, len));
        self.reported[rank.index()] = reported;
        let differs = |other: &Option<(ChunkSeq, u32)>| {
            other.is_some_and(|(chunk, other)| chunk == oldest && Some(other) != len)
        };
        if reported.is_some() && self.reported.iter().any(differs) {
            self.differ(now, rank, oldest);
        }
    }

    /// Returns the last length that this worker reported for the tensor of its oldest chunk.
    pub(super) fn reported(&self, rank: Rank) -> Option<u32> {
        self.reported[rank.index()].map(|(_, len)| len)
    }

    /// A frame of that worker shows that lengths differ at that chunk, or before it.
    pub(super) fn differ(&mut self, now: Instant, rank: Rank, chunk: ChunkSeq) {
        self.difference.get_or_insert((now, rank, chunk));
    }

    /// Returns the time of the first difference, if any.
    pub(super) fn differ_since(&self) -> Option<Instant> {
        self.difference.map(|(since, ..)| since)
    }

    /// Returns whether all workers have reported on the tensor whose lengths differ.
    pub(super) fn are_known(&self) -> bool {
        let (Some(Some((chunk, len))), Some((.., differs))) = (self.reported.first(), self.difference) else {
            return false;
        };
        let of_the_chunk =
            |reported: &Option<(ChunkSeq, u32)>| reported.is_some_and(|(other, _)| other == *chunk);
        let differ = self.reported.iter().flatten().any(|(_, other)| other != len);
        self.reported.iter().all(of_the_chunk) && (differ || *chunk == differs)
    }

    /// Returns the abort reason and the culprit: the lowest rank whose tensor's length is not the most
    /// frequent one. Among equally frequent lengths, that of the lower rank counts as right. If all reports
    /// on the tensor agree, the culprit is the sender of the frame that showed the difference.
    pub(super) fn verdict(&self) -> Option<(AbortReason, Rank)> {
        let (_, sender, _) = self.difference?;
        // A chunk that does not fit never completes, so the furthest worker is at that chunk.
        let oldest = self.reported.iter().flatten().map(|(chunk, _)| *chunk);
        let oldest = oldest.reduce(|one, other| if other > one { other } else { one });
        let len = |reported: &Option<(ChunkSeq, u32)>| {
            reported.filter(|(chunk, _)| Some(*chunk) == oldest).map(|(_, len)| len)
        };
        let mut frequency = BTreeMap::<u32, (usize, Reverse<usize>)>::new();
        for (rank, len) in
            self.reported.iter().map(len).enumerate().filter_map(|(rank, len)| Some((rank, len?)))
        {
            frequency.entry(len).or_insert((0, Reverse(rank))).0 += 1;
        }
        let expected = frequency.iter().max_by_key(|(_, frequency)| **frequency).map_or(0, |(len, _)| *len);
        let odd = self.reported.iter().map(len).position(|len| len.is_some_and(|len| len != expected));
        let culprit = odd.and_then(|rank| Rank::try_from(rank).ok()).unwrap_or(sender);
        let seen = len(&self.reported[culprit.index()]).unwrap_or(expected);
        Some((AbortReason::Mismatch { seen, expected }, culprit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: usize) -> Rank {
        Rank::try_from(rank).expect("a rank")
    }

    /// Creates the lengths of workers that have reported on chunk 0.
    fn lengths(reported: &[Option<u32>]) -> Lengths {
        let mut lengths = Lengths::new(reported.len());
        for (index, len) in reported.iter().enumerate().rev() {
            lengths.report(Instant::START, rank(index), 0.into(), *len);
        }
        lengths
    }

    /// Returns the culprit's rank and its lengths, after the worker of rank `sender` sent a frame that does
    /// not fit.
    fn blamed(mut lengths: Lengths, sender: usize) -> (usize, u32, u32) {
        lengths.differ(Instant::START, rank(sender), 0.into());
        match lengths.verdict() {
            Some((AbortReason::Mismatch { seen, expected }, culprit)) => (culprit.index(), seen, expected),
            other => panic!("{other:?}"),
        }
    }

    fn verdict(reported: &[Option<u32>], sender: usize) -> (usize, u32, u32) {
        blamed(lengths(reported), sender)
    }

    #[test]
    fn the_odd_one_is_blamed_in_any_order() {
        assert_eq!(verdict(&[Some(64), Some(96), Some(96)], 1), (0, 64, 96));
        assert_eq!(verdict(&[Some(96), Some(96), Some(64)], 0), (2, 64, 96));
        assert_eq!(verdict(&[Some(1), Some(2), Some(3), Some(3)], 3), (0, 1, 3));
        assert_eq!(verdict(&[Some(96), Some(0), None], 0), (1, 0, 96), "a tie: rank 0 counts as right");
        assert_eq!(verdict(&[Some(1), Some(2), Some(2), Some(1)], 0), (1, 2, 1));
        assert_eq!(verdict(&[Some(5), None, Some(5)], 2), (2, 5, 5), "all reports agree");
        assert_eq!(verdict(&[None, None], 1), (1, 0, 0));
    }

    #[test]
    fn differences_are_seen_where_workers_speak_of_one_tensor() {
        let mut reported = lengths(&[Some(7), Some(7)]);
        assert!(reported.differ_since().is_none());
        reported.report(Instant::START, rank(1), 9.into(), Some(3));
        assert!(reported.differ_since().is_none(), "it is further, maybe in another tensor");
        reported.report(Instant::START, rank(0), 9.into(), None);
        assert!(reported.differ_since().is_none(), "it has not started that");
        reported.report(Instant::START, rank(0), 9.into(), Some(4));
        assert!(reported.differ_since().is_some() && reported.are_known());
        assert_eq!(blamed(reported, 0), (1, 3, 4));
    }

    #[test]
    fn a_frame_that_does_not_fit_waits_for_reports_on_its_tensor() {
        let mut reported = lengths(&[Some(7), Some(7)]);
        reported.differ(Instant::START, rank(1), 9.into());
        assert!(!reported.are_known(), "lengths of the tensor before are the same");
        reported.report(Instant::START, rank(0), 9.into(), Some(3));
        assert!(!reported.are_known());
        reported.report(Instant::START, rank(1), 9.into(), Some(3));
        assert!(reported.are_known(), "all reports are known");
    }

    #[test]
    fn reports_on_earlier_tensors_do_not_count() {
        let mut reported = lengths(&[Some(5), Some(6), Some(6)]);
        reported.report(Instant::START, rank(1), 9.into(), Some(2));
        reported.report(Instant::START, rank(2), 9.into(), Some(3));
        assert_eq!(blamed(reported, 0), (2, 3, 2));
    }
}
