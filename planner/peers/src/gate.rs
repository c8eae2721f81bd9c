//! Gate of rounds: bulk and stale synchronous training.

/// Rounds that each peer has ended, and the lead bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    ended: Vec<u64>,
    /// Membership by peer.
    present: Vec<bool>,
    /// `None`: no peer ever waits.
    staleness: Option<u64>,
}

impl Gate {
    /// Creates a gate without ended rounds. A staleness of 0 is bulk synchronous training.
    pub fn new(peers: usize, staleness: Option<u64>) -> Self {
        Gate { ended: vec![0; peers], present: vec![true; peers], staleness }
    }

    /// Returns the rounds that a peer has ended.
    pub fn rounds(&self, peer: usize) -> u64 {
        self.ended[peer]
    }

    /// Takes note that a peer has ended a round.
    pub fn end(&mut self, peer: usize) {
        self.ended[peer] += 1;
    }

    /// Takes note that a peer has ended `rounds` rounds; an old count is ignored.
    pub fn reach(&mut self, peer: usize, rounds: u64) {
        self.ended[peer] = self.ended[peer].max(rounds);
    }

    /// Removes a peer.
    pub fn leave(&mut self, peer: usize) {
        self.present[peer] = false;
    }

    /// Adds a peer that has ended `rounds` rounds.
    pub fn join(&mut self, peer: usize, rounds: u64) {
        self.present[peer] = true;
        self.ended[peer] = rounds;
    }

    /// Returns whether a peer takes part.
    pub fn has(&self, peer: usize) -> bool {
        self.present[peer]
    }

    /// Returns the rounds of all members.
    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.ended.iter().zip(&self.present).filter(|(_, present)| **present).map(|(ended, _)| *ended)
    }

    /// Returns the fewest rounds that any member has ended.
    pub fn least(&self) -> u64 {
        self.counts().min().unwrap_or(0)
    }

    /// Returns the members that have ended the fewest rounds.
    pub fn last(&self) -> impl Iterator<Item = usize> + '_ {
        let least = self.least();
        (0..self.ended.len()).filter(move |&peer| self.present[peer] && self.ended[peer] == least)
    }

    /// Returns by how many rounds the fastest peer is ahead of the slowest.
    pub fn gap(&self) -> u64 {
        self.counts().max().unwrap_or(0) - self.least()
    }

    fn lets(&self, rounds: u64) -> bool {
        self.staleness.is_none_or(|staleness| rounds.saturating_sub(self.least()) <= staleness)
    }

    /// Returns whether a peer may start its next round: it is at most the staleness ahead.
    pub fn is_open(&self, peer: usize) -> bool {
        self.lets(self.ended[peer])
    }

    /// Returns whether a peer would have to wait if it ended its round now.
    pub fn would_wait(&self, peer: usize) -> bool {
        !self.lets(self.ended[peer] + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_peer_is_more_than_the_staleness_ahead() {
        let mut gate = Gate::new(2, Some(1));
        gate.end(0);
        assert!(gate.is_open(0) && gate.would_wait(0) && !gate.would_wait(1));
        gate.end(0);
        assert!(!gate.is_open(0) && gate.is_open(1));
        assert_eq!((gate.gap(), gate.last().collect::<Vec<_>>()), (2, vec![1]));
        gate.end(1);
        assert!(gate.is_open(0));
        // A failed peer is not awaited; a returned one holds the others up again.
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
