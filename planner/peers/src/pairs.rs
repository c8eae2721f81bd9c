//! Sets of (sender, receiver) among peers 0 to n−1, and how long pairs have waited.

/// A set of ordered pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    n: usize,
    /// Words of a row, one row per sender.
    width: usize,
    words: Vec<u64>,
}

impl Pairs {
    /// Creates an empty set for `n` peers.
    pub fn none(n: usize) -> Self {
        let width = n.div_ceil(64);
        Pairs { n, width, words: vec![0; width * n] }
    }

    /// Creates a set of pairs. All numbers must be below `n`.
    pub fn of(n: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut set = Pairs::none(n);
        pairs.into_iter().for_each(|(from, to)| set.insert(from, to));
        set
    }

    /// Returns the number of peers.
    pub fn peers(&self) -> usize {
        self.n
    }

    /// Returns whether a pair is in the set.
    pub fn has(&self, from: usize, to: usize) -> bool {
        self.words[from * self.width + to / 64] >> (to % 64) & 1 == 1
    }

    /// Adds a pair.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.words[from * self.width + to / 64] |= 1 << (to % 64);
    }

    /// Removes a pair.
    pub fn remove(&mut self, from: usize, to: usize) {
        self.words[from * self.width + to / 64] &= !(1 << (to % 64));
    }

    /// Returns the receivers of a sender as words of 64 bits, the least number in the lowest bit.
    pub fn row(&self, from: usize) -> &[u64] {
        &self.words[from * self.width..][..self.width]
    }

    /// Returns the receivers of a sender, ascending.
    pub fn receivers(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(from).iter().copied())
    }

    /// Returns the number of receivers of a sender.
    pub fn count(&self, from: usize) -> usize {
        self.row(from).iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns all pairs, by sender, then by receiver.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n).flat_map(|from| self.receivers(from).map(move |to| (from, to)))
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns all pairs in the opposite direction.
    pub fn reversed(&self) -> Pairs {
        Pairs::of(self.n, self.iter().map(|(from, to)| (to, from)))
    }
}

/// Returns the positions of the bits that are set, ascending.
pub(crate) fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            (bit < 64).then_some(64 * at + bit)
        })
    })
}

/// For each ordered pair, the rounds for which the sender has not sent to the receiver (c_ij).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    n: usize,
    rounds: Vec<u32>,
}

impl Waits {
    /// Creates waits of 0.
    pub fn none(n: usize) -> Self {
        Waits { n, rounds: vec![0; n * n] }
    }

    /// Returns the rounds since `from` last sent to `to`.
    pub fn of(&self, from: usize, to: usize) -> u32 {
        self.rounds[from * self.n + to]
    }

    /// Sets the rounds of a pair.
    pub fn set(&mut self, from: usize, to: usize, rounds: u32) {
        self.rounds[from * self.n + to] = rounds;
    }

    /// Takes note that a sender has ended a multicast to these receivers.
    pub fn ended(&mut self, from: usize, receivers: impl IntoIterator<Item = usize>) {
        let row = &mut self.rounds[from * self.n..][..self.n];
        row.iter_mut().for_each(|rounds| *rounds = rounds.saturating_add(1));
        receivers.into_iter().for_each(|to| row[to] = 0);
        row[from] = 0;
    }

    /// Returns the longest wait for a sender, in rounds.
    pub fn longest_of(&self, from: usize) -> u32 {
        self.rounds[from * self.n..][..self.n].iter().copied().max().unwrap_or(0)
    }

    /// Returns the longest wait of all pairs, in rounds.
    pub fn longest(&self) -> u32 {
        self.rounds.iter().copied().max().unwrap_or(0)
    }

    /// Returns whether a pair is forced (fairness bound k): the receiver was not in the sender's last
    /// `force_after` rounds. `None`: no pair is.
    pub fn is_forced(&self, from: usize, to: usize, force_after: Option<u32>) -> bool {
        from != to && force_after.is_some_and(|k| self.of(from, to) >= k)
    }

    /// Returns the forced pairs.
    pub fn forced(&self, force_after: Option<u32>) -> Pairs {
        let all = (0..self.n).flat_map(|from| (0..self.n).map(move |to| (from, to)));
        Pairs::of(self.n, all.filter(|&(from, to)| self.is_forced(from, to, force_after)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_kept_across_words() {
        let mut set = Pairs::of(130, [(0, 129), (129, 0), (5, 63), (5, 64)]);
        assert_eq!(set.receivers(5).collect::<Vec<_>>(), [63, 64]);
        assert_eq!((set.len(), set.count(129), set.has(0, 129), set.has(0, 128)), (4, 1, true, false));
        assert_eq!(set.reversed().receivers(0).collect::<Vec<_>>(), [129]);
        set.remove(0, 129);
        assert_eq!(set.iter().collect::<Vec<_>>(), [(5, 63), (5, 64), (129, 0)]);
        assert!(!set.is_empty() && Pairs::none(3).is_empty());
    }

    #[test]
    fn a_receiver_is_forced_once_in_k_plus_1_rounds() {
        let (mut waits, k) = (Waits::none(2), Some(4));
        let mut sent = Vec::new();
        for round in 0..15 {
            let forced = waits.is_forced(0, 1, k);
            if forced {
                sent.push(round);
            }
            waits.ended(0, forced.then_some(1));
        }
        assert_eq!(sent, [4, 9, 14]);
        assert!(!waits.is_forced(0, 1, None) && !waits.is_forced(0, 0, Some(0)));
        assert_eq!(waits.forced(Some(0)).len(), 2);
    }
}
