//! Who may begin the next round: bulk and stale synchronous training.

/// How many rounds each peer has ended, and how far one may be ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    ended: Vec<u64>,
    /// Who takes part.
    present: Vec<bool>,
    /// `None`: nobody ever waits.
    staleness: Option<u64>,
}

impl Gate {
    /// Nobody has ended a round. A staleness of 0 is bulk synchronous training.
    pub fn new(peers: usize, staleness: Option<u64>) -> Self {
        Gate { ended: vec![0; peers], present: vec![true; peers], staleness }
    }

    /// The rounds that a peer has ended.
    pub fn rounds(&self, peer: usize) -> u64 {
        self.ended[peer]
    }

    /// A peer has ended a round.
    pub fn end(&mut self, peer: usize) {
        self.ended[peer] += 1;
    }

    /// A peer says that it has ended so many rounds; fewer than are known is old news.
    pub fn reach(&mut self, peer: usize, rounds: u64) {
        self.ended[peer] = self.ended[peer].max(rounds);
    }

    /// A peer takes no part any more: nobody waits for it.
    pub fn leave(&mut self, peer: usize) {
        self.present[peer] = false;
    }

    /// A peer takes part again, and has ended so many rounds.
    pub fn join(&mut self, peer: usize, rounds: u64) {
        self.present[peer] = true;
        self.ended[peer] = rounds;
    }

    /// Whether a peer takes part.
    pub fn has(&self, peer: usize) -> bool {
        self.present[peer]
    }

    /// The rounds of all who take part.
    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.ended.iter().zip(&self.present).filter(|(_, present)| **present).map(|(ended, _)| *ended)
    }

    /// The fewest rounds that any peer has ended.
    pub fn least(&self) -> u64 {
        self.counts().min().unwrap_or(0)
    }

    /// The peers that have ended the fewest rounds.
    pub fn last(&self) -> impl Iterator<Item = usize> + '_ {
        let least = self.least();
        (0..self.ended.len()).filter(move |&peer| self.present[peer] && self.ended[peer] == least)
    }

    /// By how many rounds the first peer is ahead of the last.
    pub fn gap(&self) -> u64 {
        self.counts().max().unwrap_or(0) - self.least()
    }

    fn lets(&self, rounds: u64) -> bool {
        self.staleness.is_none_or(|staleness| rounds.saturating_sub(self.least()) <= staleness)
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
        // Nobody waits for who is gone; who is back holds the others up again.
        gate.end(0);
        gate.end(0);
        gate.leave(1);
        assert!(gate.is_open(0) && gate.gap() == 0 && !gate.has(1));
        gate.join(1, 2);
        gate.reach(1, 1);
        assert!(!gate.is_open(0) && gate.gap() == 2);
        gate.reach(1, 3);
        assert!(gate.is_open(0));
        let free = Gate::new(2, None);
        assert!(free.is_open(0) && !free.would_wait(0));
    }
}
