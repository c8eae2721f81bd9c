//! Check that workers start the same tensors, by the transcripts in their keep-alives.

use alloc::vec::Vec;
use core::cmp::Reverse;

use inart_wire::{AbortReason, Rank, Transcript};

use crate::Instant;

/// The last transcript of each worker, and whether two of them differ.
///
/// Tensors of one length complete in any pairing, so the streams do not show that workers pair different
/// tensors. Marks do: those of a tensor are equal at two workers if the workers started the same tensors up
/// to it.
#[derive(Clone, Debug)]
pub(super) struct Transcripts {
    /// Cohort by rank. Workers of different cohorts are not compared.
    cohorts: Vec<usize>,
    /// Transcript by rank; empty before the first keep-alive with one.
    received: Vec<Transcript>,
    difference: Option<Difference>,
}

/// Transcripts of one cohort that differ.
#[derive(Clone, Debug)]
struct Difference {
    since: Instant,
    cohort: usize,
    /// Number whose marks differ, counted from 1.
    number: u32,
    /// Known marks of that number, by rank.
    marks: Vec<Option<u32>>,
    /// Lowest number whose marks differ.
    lowest: u32,
    /// Highest lower number whose marks are equal at the same workers.
    agreed: u32,
}

impl Transcripts {
    /// `cohorts`: by rank.
    pub(super) fn new(cohorts: Vec<usize>) -> Self {
        let received = alloc::vec![Transcript::default(); cohorts.len()];
        Self { cohorts, received, difference: None }
    }

    /// Stores the transcript of the worker of that rank, and compares it with those of its peers.
    pub(super) fn receive(&mut self, now: Instant, rank: Rank, transcript: Transcript) {
        let rank = rank.index();
        self.received[rank] = transcript;
        let cohort = self.cohorts[rank];
        for peer in members(&self.cohorts, cohort).filter(|peer| *peer != rank) {
            let Some((agreed, number)) = difference(&transcript, &self.received[peer]) else { continue };
            let marks = alloc::vec![None; self.received.len()];
            let first = Difference { since: now, cohort, number, marks, lowest: number, agreed };
            let known = self.difference.get_or_insert(first);
            if known.cohort == cohort && number <= known.lowest {
                known.agreed = if number < known.lowest { agreed } else { agreed.max(known.agreed) };
                known.lowest = number;
            }
        }
        if let Some(difference) = &mut self.difference {
            difference.learn(&self.cohorts, &self.received);
        }
    }

    /// Returns the time of the first difference, if any.
    pub(super) fn differ_since(&self) -> Option<Instant> {
        self.difference.as_ref().map(|difference| difference.since)
    }

    /// Returns whether all workers' marks of the differing number are known.
    pub(super) fn are_known(&self) -> bool {
        self.difference.as_ref().is_some_and(|difference| {
            members(&self.cohorts, difference.cohort).all(|rank| difference.marks[rank].is_some())
        })
    }

    /// Returns the abort reason and the culprit: the lowest rank whose mark is not the most frequent one.
    /// Among equally frequent marks, that of the lower rank counts as right.
    pub(super) fn verdict(&self) -> Option<(AbortReason, Rank)> {
        let Difference { marks, lowest, agreed, .. } = self.difference.as_ref()?;
        let known = || marks.iter().enumerate().filter_map(|(rank, mark)| Some((rank, (*mark)?)));
        let frequency = |mark: u32| known().filter(|(_, other)| *other == mark).count();
        let (_, expected) = known().max_by_key(|(rank, mark)| (frequency(*mark), Reverse(*rank)))?;
        let (culprit, _) = known().find(|(_, mark)| *mark != expected)?;
        let reason = AbortReason::OtherTensors { first: *agreed, last: lowest - 1 };
        Some((reason, Rank::try_from(culprit).ok()?))
    }
}

impl Difference {
    /// Notes marks of the number: from a worker's own transcript, or from that of a peer which agrees with it
    /// at the number or a later one.
    fn learn(&mut self, cohorts: &[usize], received: &[Transcript]) {
        for rank in members(cohorts, self.cohort) {
            if let Some(mark) = received[rank].mark(self.number) {
                self.marks[rank] = Some(mark);
            }
        }
        for rank in members(cohorts, self.cohort) {
            if self.marks[rank].is_none() {
                let agrees = |peer: &usize| {
                    let mut later = received[rank].numbered().filter(|(number, _)| *number >= self.number);
                    later.any(|(number, mark)| received[*peer].mark(number) == Some(mark))
                };
                let known = members(cohorts, self.cohort).filter(|peer| self.marks[*peer].is_some());
                self.marks[rank] = known.into_iter().find(agrees).and_then(|peer| self.marks[peer]);
            }
        }
    }
}

/// The ranks of a cohort.
fn members(cohorts: &[usize], cohort: usize) -> impl Iterator<Item = usize> {
    cohorts.iter().enumerate().filter(move |(_, of)| **of == cohort).map(|(rank, _)| rank)
}

/// Returns the lowest number whose marks differ, after the highest lower one whose marks are equal (0 if none
/// is equal).
fn difference(one: &Transcript, other: &Transcript) -> Option<(u32, u32)> {
    if one == other {
        return None;
    }
    let both = || one.numbered().filter_map(|(number, mark)| Some((number, mark, other.mark(number)?)));
    let number = both().filter(|(_, mark, other)| mark != other).map(|(number, ..)| number).min()?;
    let agreed = both().filter(|(at, mark, other)| mark == other && *at < number).map(|(at, ..)| at);
    Some((agreed.max().unwrap_or(0), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: usize) -> Rank {
        Rank::try_from(rank).expect("a rank")
    }

    /// Creates the transcript of `started` tensors, of which the one of number `odd` (from 1) and all later
    /// ones have other marks.
    fn transcript(started: u32, odd: u32) -> Transcript {
        let marks = Transcript::numbers(started)
            .map(|number| if number < odd { number } else { number.wrapping_add(1_000_000) });
        Transcript { started, marks }
    }

    const SAME: u32 = u32::MAX;

    /// Returns the culprit and its tensors, after the workers sent these transcripts in turn.
    fn blamed(cohorts: &[usize], sent: &[(usize, Transcript)]) -> Option<(usize, u32, u32, bool)> {
        let mut transcripts = Transcripts::new(cohorts.to_vec());
        for (from, transcript) in sent {
            transcripts.receive(Instant::START, rank(*from), *transcript);
        }
        transcripts.differ_since()?;
        match transcripts.verdict() {
            Some((AbortReason::OtherTensors { first, last }, culprit)) => {
                Some((culprit.index(), first, last, transcripts.are_known()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_odd_one_is_blamed_once_all_have_started_the_tensor() {
        let all = |odd: usize, ranks: usize| {
            (0..ranks).map(move |rank| (rank, transcript(10, if rank == odd { 9 } else { SAME })))
        };
        for odd in 0..3 {
            let mut sent: Vec<_> = all(odd, 3).collect();
            for _ in 0..3 {
                sent.rotate_left(1);
                assert_eq!(blamed(&[0; 3], &sent), Some((odd, 8, 8, true)));
            }
        }
        assert_eq!(
            blamed(&[0; 2], &all(0, 2).collect::<Vec<_>>()),
            Some((1, 8, 8, true)),
            "a tie: rank 0 is right"
        );
        // Rank 2 had sent its transcript before it started the tensor: it agrees with both.
        let early = [(2, transcript(8, SAME)), (0, transcript(10, 9)), (1, transcript(10, SAME))];
        assert_eq!(blamed(&[0; 3], &early), Some((1, 8, 8, false)));
        let all = [&early[..], &[(2, transcript(11, SAME))]].concat();
        assert_eq!(blamed(&[0; 3], &all), Some((0, 8, 8, true)));
    }

    /// A worker that continued has no mark of the number any more. Its peers have one, or agree with it
    /// later.
    #[test]
    fn a_comparison_stays_known() {
        let sent = [
            (0, transcript(1, 1)),
            (2, transcript(1, SAME)),
            (2, transcript(90, SAME)),
            (1, transcript(90, SAME)),
        ];
        assert_eq!(blamed(&[0; 3], &sent), Some((0, 0, 0, true)));
        assert_eq!(blamed(&[0; 3], &sent[..3]), Some((2, 0, 0, false)), "of two, the first counts as right");
        let sent = [(0, transcript(1, 1)), (2, transcript(1, SAME)), (1, transcript(90, SAME))];
        assert_eq!(blamed(&[0; 3], &sent), Some((2, 0, 0, false)), "rank 1 has no mark to compare");
    }

    #[test]
    fn workers_that_are_far_apart_are_compared_at_a_power_of_four() {
        let sent = [(0, transcript(700, SAME)), (1, transcript(570, 300))];
        assert_eq!(blamed(&[0; 2], &sent), Some((1, 0, 511, true)));
        let sent = [(0, transcript(700, SAME)), (1, transcript(570, 600))];
        assert_eq!(blamed(&[0; 2], &sent), None, "no difference yet");
        let sent = [(0, transcript(700, SAME)), (1, transcript(570, 560))];
        assert_eq!(blamed(&[0; 2], &sent), None, "seen later: no common mark is of a later tensor");
    }

    #[test]
    fn equal_transcripts_empty_ones_and_those_of_other_cohorts_do_not_differ() {
        for started in [0, 1, 5, 64, 65_535, u32::MAX] {
            let sent = [(0, transcript(started, SAME)), (1, transcript(started.saturating_sub(1), SAME))];
            assert_eq!(blamed(&[0; 2], &sent), None);
        }
        let marks = [7; Transcript::MARKS];
        let sent = [(0, Transcript { started: 0, marks }), (1, transcript(9, SAME))];
        assert_eq!(blamed(&[0; 2], &sent), None, "a version without transcripts");
        let sent = [(0, transcript(9, 3)), (1, transcript(9, SAME))];
        assert_eq!(blamed(&[0, 1], &sent), None, "another cohort");
    }

    #[test]
    fn the_narrowest_range_of_tensors_is_kept() {
        let sent = [
            (0, transcript(10, SAME)),
            (1, transcript(10, 10)),
            (0, transcript(500, SAME)),
            (1, transcript(500, 10)),
        ];
        assert_eq!(blamed(&[0; 2], &sent), Some((1, 9, 9, true)));
    }
}
