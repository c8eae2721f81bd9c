//! How long the workers' gradients are, as they tell.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use inart_wire::{AbortReason, WorkerId};

use crate::Instant;

/// What each worker has told about the length of its gradient, and whether they agree.
#[derive(Clone, Debug)]
pub(super) struct Lengths {
    /// By rank, in values; `None` if it has not told.
    told: Vec<Option<u32>>,
    /// How many have not.
    untold: usize,
    /// What was told first of all.
    first: Option<u32>,
    /// When a difference was seen, and the rank of the worker whose frame showed it.
    difference: Option<(Instant, WorkerId)>,
    /// Since when a worker without chunks waits to hear that all agree.
    awaited: Option<Instant>,
}

impl Lengths {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            told: alloc::vec![None; workers],
            untold: workers,
            first: None,
            difference: None,
            awaited: None,
        }
    }

    /// Takes in what the worker of that rank tells; whether that is news.
    pub(super) fn tell(&mut self, now: Instant, rank: WorkerId, len: u32) -> bool {
        let before = self.told[rank.index()].replace(len);
        self.untold -= usize::from(before.is_none());
        if *self.first.get_or_insert(len) != len {
            self.differ(now, rank);
        }
        before != Some(len)
    }

    /// A frame of that worker shows that lengths differ.
    pub(super) fn differ(&mut self, now: Instant, rank: WorkerId) {
        self.difference.get_or_insert((now, rank));
    }

    /// A worker waits to hear that all agree.
    pub(super) fn wait(&mut self, now: Instant) {
        self.awaited.get_or_insert(now);
    }

    /// When a difference was seen, if one was.
    pub(super) fn differ_since(&self) -> Option<Instant> {
        self.difference.map(|(since, _)| since)
    }

    pub(super) fn are_known(&self) -> bool {
        self.untold == 0
    }

    /// Whether all have told the same length, and no frame said otherwise.
    pub(super) fn agree(&self) -> bool {
        self.are_known() && self.difference.is_none()
    }

    /// The ranks of those who are waited for to tell, and since when.
    pub(super) fn missing(&self) -> impl Iterator<Item = (Instant, WorkerId)> {
        self.awaited.into_iter().flat_map(|since| {
            let untold = self.told.iter().enumerate().filter(|(_, told)| told.is_none());
            untold.filter_map(move |(rank, _)| Some((since, WorkerId::try_from(rank).ok()?)))
        })
    }

    /// Why the job ends, and because of whom: the lowest rank whose length is not the most frequent one. Of lengths that are
    /// equally frequent, that of the lower rank counts as right. If all who told agree, it is the sender of the frame that
    /// showed the difference.
    pub(super) fn verdict(&self) -> Option<(AbortReason, WorkerId)> {
        let (_, sender) = self.difference?;
        let mut frequency = BTreeMap::<u32, (usize, Reverse<usize>)>::new();
        for (rank, len) in self.told.iter().enumerate().filter_map(|(rank, told)| Some((rank, (*told)?))) {
            frequency.entry(len).or_insert((0, Reverse(rank))).0 += 1;
        }
        let expected = frequency.iter().max_by_key(|(_, frequency)| **frequency).map_or(0, |(len, _)| *len);
        let odd = self.told.iter().position(|told| told.is_some_and(|len| len != expected));
        let culprit = odd.and_then(|rank| WorkerId::try_from(rank).ok()).unwrap_or(sender);
        let seen = self.told[culprit.index()].unwrap_or(expected);
        Some((AbortReason::Mismatch { seen, expected }, culprit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The culprit's rank and what is told about it, after the workers told that, and the one of rank `sender` sent a frame
    /// that does not fit.
    fn verdict(told: &[Option<u32>], sender: usize) -> (usize, u32, u32) {
        let mut lengths = Lengths::new(told.len());
        let rank = |rank: usize| WorkerId::try_from(rank).expect("a rank");
        for (index, len) in told.iter().enumerate().rev() {
            len.map(|len| lengths.tell(Instant::START, rank(index), len));
        }
        assert_eq!(lengths.are_known(), told.iter().all(Option::is_some));
        lengths.differ(Instant::START, rank(sender));
        match lengths.verdict() {
            Some((AbortReason::Mismatch { seen, expected }, culprit)) => (culprit.index(), seen, expected),
            other => panic!("{other:?}"),
        }
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
    fn they_agree_when_all_have_told_the_same() {
        let mut lengths = Lengths::new(2);
        let rank = |rank: u16| WorkerId::try_from(rank).expect("a rank");
        assert!(lengths.tell(Instant::START, rank(1), 7) && !lengths.agree());
        assert_eq!(lengths.missing().count(), 0, "nobody waits");
        lengths.wait(Instant::START);
        assert!(lengths.missing().eq([(Instant::START, rank(0))]));
        assert!(!lengths.tell(Instant::START, rank(1), 7), "no news");
        assert!(lengths.tell(Instant::START, rank(0), 7) && lengths.agree());
        assert_eq!((lengths.missing().count(), lengths.verdict()), (0, None));
    }
}
