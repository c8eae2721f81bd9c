//! Which tensor continues which: where the exponents of a new tensor's chunks come from.
//!
//! Programs sum the same tensors again and again, in the same order: one gradient per round, or some buckets
//! per iteration. A tensor begins with the exponents that the results of the one before it *in the same
//! place* agreed on. No message says which one that is. It follows from the lengths alone, in the order in
//! which tensors are started, which is the same at all workers:
//!
//! *The tensor continues the one that was started `lag` tensors before it. A lag is possible if that tensor
//! has the same length. Of the possible lags, the one that has repeated the lengths before for longest is
//! taken; of equal ones the greatest. If no lag is possible, the chunks begin anew.*
//!
//! With buckets of a, b and c values in each iteration, a lag of 3 has repeated since the second. Where the
//! lengths change once, the iteration after that begins anew, and the next continues it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use inart_wire::Exponent;

/// A tensor that was started, and what the results of its chunks agree on for the next use; `None` without a
/// result.
#[derive(Clone, Debug)]
struct Entry {
    len: usize,
    exponents: Vec<Option<Exponent>>,
}

/// The tensors started last. All workers of a job have the same.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// By age, the oldest first.
    entries: VecDeque<Entry>,
    /// How many were started before the oldest.
    first: u64,
    /// By lag, from 1 on: for how many of the tensors up to the last one the one a lag before had the same
    /// length.
    repeated: Vec<u64>,
    /// Exponents in all entries.
    exponents: usize,
}

/// What a new tensor begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    /// The tensor that it continues.
    pub continues: u64,
    /// By chunk, the exponent; `None` if it is not known yet.
    pub exponents: Vec<Option<Exponent>>,
}

impl History {
    /// Tensors remembered.
    const MOST_TENSORS: usize = 1024;
    /// Exponents remembered, beside the last tensor's.
    const MOST_EXPONENTS: usize = 1 << 24;

    /// Starts the next tensor, of `len` values in so many chunks; returns what it begins with, unless it
    /// begins anew.
    pub(super) fn start(&mut self, len: usize, chunks: usize) -> Option<Begin> {
        let lens = || self.entries.iter().rev().map(|entry| entry.len);
        self.repeated.resize(self.entries.len(), 0);
        let same = lens().zip(&self.repeated).enumerate().filter(|(_, (other, _))| *other == len);
        let lag = same.max_by_key(|(lag, (_, repeated))| (**repeated, *lag)).map(|(lag, _)| lag + 1);
        let begin = lag.map(|lag| {
            let place = self.entries.len() - lag;
            Begin { continues: self.first + place as u64, exponents: self.entries[place].exponents.clone() }
        });
        for (repeated, entry) in self.repeated.iter_mut().zip(self.entries.iter().rev()) {
            *repeated = if entry.len == len { *repeated + 1 } else { 0 };
        }
        while self.entries.len() >= Self::MOST_TENSORS || self.exponents > Self::MOST_EXPONENTS {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.exponents -= oldest.exponents.len();
            self.first += 1;
        }
        self.entries.push_back(Entry { len, exponents: alloc::vec![None; chunks] });
        self.exponents += chunks;
        begin
    }

    /// A result of the tensor started as that one agrees on an exponent for the next use of the chunk.
    pub(super) fn agree(&mut self, tensor: u64, chunk: usize, exponent: Exponent) {
        let place = tensor.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) {
            entry.exponents[chunk] = Some(exponent);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    /// Which tensor each of these continues.
    fn continued(lens: &[usize]) -> Vec<Option<u64>> {
        let mut history = History::default();
        lens.iter().map(|len| history.start(*len, 1).map(|begin| begin.continues)).collect()
    }

    #[test]
    fn one_tensor_continues_itself() {
        assert_eq!(continued(&[5, 5, 5, 5]), [None, Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn buckets_are_continued_in_their_places() {
        let seen = continued(&[9, 7, 5, 9, 7, 5, 9, 7, 5]);
        assert_eq!(
            seen,
            [None, None, None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(5)],
            "from the second iteration on"
        );
    }

    #[test]
    fn buckets_of_one_length_find_their_places() {
        let seen = continued(&[25, 25, 25, 10, 25, 25, 25, 10, 25, 25, 25, 10]);
        // In the first iteration nothing tells them apart.
        assert_eq!(seen[..4], [None, Some(0), Some(1), None]);
        assert_eq!(seen[4..], (0..8).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn lengths_may_change_after_an_iteration() {
        let seen = continued(&[9, 7, 5, 4, 8, 6, 3, 4, 8, 6, 3, 4]);
        assert_eq!(seen[..7], [None; 7]);
        assert_eq!(seen[7..], [Some(3), Some(4), Some(5), Some(6), Some(7)]);
        // The first two buckets stay, the third becomes two.
        let seen = continued(&[9, 7, 5, 9, 7, 3, 2, 9, 7, 3, 2]);
        // Of equal lags the greatest counts, so those two continue their first use once more.
        assert_eq!(seen[3..], [Some(0), Some(1), None, None, Some(0), Some(1), Some(5), Some(6)]);
        assert_eq!(continued(&[9, 7, 5, 9, 7, 3, 2, 9, 7, 3, 2, 9, 7])[11..], [Some(7), Some(8)]);
    }

    #[test]
    fn what_is_agreed_on_is_handed_on() {
        let mut history = History::default();
        let exponent = |number: i8| Some(Exponent::from(number));
        assert_eq!(history.start(70, 3), None);
        history.agree(0, 1, Exponent::from(-9));
        let begin = history.start(70, 3);
        assert_eq!(begin, Some(Begin { continues: 0, exponents: vec![None, exponent(-9), None] }));
        history.agree(7, 0, Exponent::from(-9));
    }

    #[test]
    fn memory_is_bounded() {
        let mut history = History::default();
        for _ in 0..3 * History::MOST_TENSORS {
            history.start(1, 1);
        }
        assert_eq!((history.entries.len(), history.exponents), (1024, 1024));
        assert_eq!(history.start(1, 1).map(|begin| begin.continues), Some(3 * 1024 - 1));
        let mut history = History::default();
        for _ in 0..5 {
            history.start(2, History::MOST_EXPONENTS);
        }
        assert_eq!(history.entries.len(), 2);
    }
}
