//! Who may begin the next round: bulk and stale synchronous training.

/// How many rounds each peer has ended, and how far one may be ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    ended: Vec<u64>,
    /// `None`: nobody ever waits.
    staleness: Option<u64>,
}

impl Gate {
    /// Nobody has ended a round. A staleness of 0 is bulk synchronous training.
    pub fn new(peers: usize, staleness: Option<u64>) -> Self {
        Gate { ended: vec![0; peers], staleness }
    }

    /// The rounds that a peer has ended.
    pub fn rounds(&self, peer: usize) -> u64 {
        self.ended[peer]
    }

    /// A peer has ended a round.
    pub fn end(&mut self, peer: usize) {
        self.ended[peer] += 1;
    }

    /// The fewest rounds that any peer has ended.
    pub fn least(&self) -> u64 {
        self.ended.iter().copied().min().unwrap_or(0)
    }

    /// The peers that have ended the fewest rounds.
    pub fn last(&self) -> impl Iterator<Item = usize> + '_ {
        let least = self.least();
        (0..self.ended.len()).filter(move |&peer| self.ended[peer] == least)
    }

    /// By how many rounds the first peer is ahead of the last.
    pub fn gap(&self) -> u64 {
        self.ended.iter().copied().max().unwrap_or(0) - self.least()
    }

    fn lets(&self, rounds: u64) -> bool {
        self.staleness.is_none_or(|staleness| rounds - self.least() <= staleness)
    }

    /// Whether a peer may begin its next round: it is at most the staleness ahead.
    pub fn is_open(&self, peer: usize) -> bool {
        self.lets(self.ended[peer])
    }

    /// Whether a peer would have to wait if it ended its round now.
    pub fn would_wait(&self, peer: usize) -> bool {
        !self.lets(self.ended[peer] + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_more_than_the_staleness_ahead() {
        let mut gate = Gate::new(2, Some(1));
        gate.end(0);
        assert!(gate.is_open(0) && gate.would_wait(0) && !gate.would_wait(1));
        gate.end(0);
        assert!(!gate.is_open(0) && gate.is_open(1));
        assert_eq!((gate.gap(), gate.last().collect::<Vec<_>>()), (2, vec![1]));
        gate.end(1);
        assert!(gate.is_open(0));
        let free = Gate::new(2, None);
        assert!(free.is_open(0) && !free.would_wait(0));
    }
}
