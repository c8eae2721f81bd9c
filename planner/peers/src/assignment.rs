//! Integer flows from senders to receivers: every sender needs a number of receivers, every receiver has room
//! for a number of senders, and no pair is used twice.

use crate::pairs::{Pairs, ones};

/// An assignment under construction.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    /// Chosen pairs, fixed pairs included.
    pub chosen: Pairs,
    /// For each receiver the senders that may be moved to another receiver.
    movable: Pairs,
    /// Number of receivers that each sender still needs.
    pub need: Vec<usize>,
    /// Number of senders for which each receiver still has room.
    pub room: Vec<usize>,
}

/// Senders that need more than all receivers have room for: a minimum cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Senders; all their pairs with other receivers than these are used.
    pub senders: Vec<usize>,
    /// Receivers, all of them full.
    pub receivers: Vec<usize>,
}

impl Assignment {
    /// Creates an assignment of the fixed pairs; `room` and `need` count the further ones.
    pub fn new(fixed: &Pairs, need: Vec<usize>, room: Vec<usize>) -> Self {
        let movable = Pairs::none(fixed.peers());
        Assignment { chosen: fixed.clone(), movable, need, room }
    }

    /// Assigns a receiver with room to a sender.
    pub fn give(&mut self, from: usize, to: usize) {
        self.chosen.insert(from, to);
        self.movable.insert(to, from);
        self.room[to] -= 1;
        self.need[from] -= 1;
    }

    /// Assigns to each sender the receivers with the most room, as far as possible.
    pub fn fill(&mut self) {
        let mut free: Vec<(std::cmp::Reverse<usize>, usize)> = Vec::with_capacity(self.room.len());
        for from in 0..self.need.len() {
            let count = self.need[from];
            let is_free = |to: usize| self.room[to] > 0 && to != from && !self.chosen.has(from, to);
            free.clear();
            free.extend((0..self.room.len()).filter(|&to| is_free(to)).map(|to| {
                // Among equals, the first one after the sender, so that rooms fill evenly.
                let distance = (to + self.room.len() - from) % self.room.len();
                (std::cmp::Reverse(self.room[to]), distance)
            }));
            if count < free.len() && count > 0 {
                free.select_nth_unstable(count - 1);
            }
            for &(_, distance) in free.iter().take(count) {
                self.give(from, (from + distance) % self.need.len());
            }
        }
    }

    /// Meets all needs along augmenting paths.
    ///
    /// # Errors
    /// The cut that proves that this is impossible.
    pub fn complete(&mut self) -> Result<(), Cut> {
        for from in 0..self.need.len() {
            while self.need[from] > 0 {
                self.augment(from)?;
            }
        }
        Ok(())
    }

    /// Meets as many needs as possible.
    pub fn extend(&mut self) {
        let mut hopeless = vec![false; self.need.len()];
        for from in 0..self.need.len() {
            while self.need[from] > 0 && !hopeless[from] && self.room.iter().any(|room| *room > 0) {
                // Senders that this search has reached find no receivers later either.
                let Err(cut) = self.augment(from) else { continue };
                cut.senders.into_iter().for_each(|sender| hopeless[sender] = true);
            }
        }
    }

    /// Finds one more receiver for a sender; other senders may change receivers (a breadth-first search).
    fn augment(&mut self, source: usize) -> Result<(), Cut> {
        let n = self.need.len();
        let width = self.chosen.row(0).len();
        let (mut seen_receivers, mut seen_senders) = (vec![0u64; width], vec![0u64; width]);
        let (mut by_sender, mut by_receiver) = (vec![usize::MAX; n], vec![usize::MAX; n]);
        let mut queue = vec![source];
        seen_senders[source / 64] |= 1 << (source % 64);
        let mut next = 0;
        while let Some(&from) = queue.get(next) {
            next += 1;
            let row = self.chosen.row(from).iter().zip(&seen_receivers);
            let fresh: Vec<u64> = row.map(|(chosen, seen)| !(chosen | seen)).collect();
            for to in ones(fresh.into_iter()).take_while(|&to| to < n).filter(|&to| to != from) {
                seen_receivers[to / 64] |= 1 << (to % 64);
                by_sender[to] = from;
                if self.room[to] > 0 {
                    self.shift(source, to, &by_sender, &by_receiver);
                    return Ok(());
                }
                let row = self.movable.row(to).iter().zip(&seen_senders);
                let fresh: Vec<u64> = row.map(|(senders, seen)| senders & !seen).collect();
                for other in ones(fresh.into_iter()) {
                    seen_senders[other / 64] |= 1 << (other % 64);
                    by_receiver[other] = to;
                    queue.push(other);
                }
            }
        }
        Err(Cut { senders: queue, receivers: ones(seen_receivers.into_iter()).collect() })
    }

    /// Shifts one unit along the found path, from its end.
    fn shift(&mut self, source: usize, end: usize, by_sender: &[usize], by_receiver: &[usize]) {
        let mut to = end;
        loop {
            let from = by_sender[to];
            self.chosen.insert(from, to);
            self.movable.insert(to, from);
            if from == source {
                break;
            }
            to = by_receiver[from];
            self.chosen.remove(from, to);
            self.movable.remove(to, from);
        }
        self.room[end] -= 1;
        self.need[source] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_met_by_moving_others() {
        // 0 and 1 may both send to 2 only in part: room is one each.
        let fixed = Pairs::of(3, [(0, 1)]);
        let mut assignment = Assignment::new(&fixed, vec![1, 1, 1], vec![2, 0, 1]);
        assignment.fill();
        assert_eq!(assignment.complete(), Ok(()));
        assert_eq!(assignment.chosen.iter().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 0), (2, 0)]);
    }

    #[test]
    fn a_cut_holds_more_needs_than_rooms() {
        let none = Pairs::none(4);
        let mut assignment = Assignment::new(&none, vec![2; 4], vec![3, 3, 1, 0]);
        assignment.fill();
        let cut = assignment.complete().unwrap_err();
        let outside = |from: usize| (0..4).filter(|&to| to != from && !cut.receivers.contains(&to)).count();
        let needed: usize = cut.senders.iter().map(|&from| 2usize.saturating_sub(outside(from))).sum();
        let room: usize = cut.receivers.iter().map(|&to| [3, 3, 1, 0][to]).sum();
        assert!(needed > room, "{cut:?}");
    }
}
