//! Tracks when each peer was last alive, and when to send the own notice.

use std::time::Duration;

use inart_protocol_peers::Receivers;
use inart_wire::Rank;

/// A notice is repeated after the shortest interval, then after 4 times the last one, up to the longest.
/// Every peer receives all others' notices, so more of them would use a notable part of its port.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(800);
const GROWTH: u32 = 4;
/// Grace period of a peer whose connection has ended; another connection within it keeps the peer.
const RECONNECTION: Duration = Duration::from_millis(500);

/// Liveness of the other peers.
#[derive(Debug, Clone)]
pub(super) struct Liveness {
    timeout: Duration,
    /// Time by which each peer must show a sign of life, by rank; `None` if this peer is not awaited.
    until: Vec<Option<Duration>>,
    gone: Receivers,
    notice_at: Option<Duration>,
    gap: Duration,
}

impl Liveness {
    pub fn new(peers: usize, timeout: Duration) -> Self {
        let (until, gone) = (vec![None; peers], Receivers::default());
        Liveness { timeout, until, gone, notice_at: None, gap: SHORTEST }
    }

    /// Adds a peer.
    pub fn join(&mut self, rank: Rank, now: Duration) {
        self.until[rank.index()] = Some(now.saturating_add(self.timeout));
        self.gone.remove(rank);
    }

    /// Takes a sign of life of a peer. A sign of a failed one may be old, and is ignored.
    pub fn observe(&mut self, rank: Rank, now: Duration) {
        if let Some(until) = &mut self.until[rank.index()] {
            *until = now.saturating_add(self.timeout);
        }
    }

    /// Shortens the time of a peer whose connection has ended to the grace period.
    pub fn suspect(&mut self, rank: Rank, now: Duration) {
        if let Some(until) = &mut self.until[rank.index()] {
            *until = now.saturating_add(RECONNECTION).min(*until);
        }
    }

    /// Declares silent peers failed, and returns them.
    pub fn expire(&mut self, now: Duration) -> Vec<Rank> {
        let late = |until: &Option<Duration>| until.is_some_and(|until| now >= until);
        let ranks = (0..self.until.len()).filter(|&at| late(&self.until[at]));
        let found: Vec<Rank> = ranks.filter_map(|at| Rank::try_from(at).ok()).collect();
        for &rank in &found {
            self.until[rank.index()] = None;
            self.gone.insert(rank);
        }
        found
    }

    pub fn is_gone(&self, rank: Rank) -> bool {
        self.gone.contains(rank)
    }

    /// Returns the peers that this one has declared failed, ascending.
    pub fn failed(&self) -> Vec<u32> {
        self.gone.iter().map(|rank| rank.get().into()).collect()
    }

    /// Sends a notice at once, and repeats it.
    pub fn notify_soon(&mut self, now: Duration) {
        (self.notice_at, self.gap) = (Some(now), SHORTEST);
    }

    pub fn wake_at(&self) -> Option<Duration> {
        let first = self.until.iter().flatten().min().copied();
        first.into_iter().chain(self.notice_at).min()
    }

    pub fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.notice_at.is_some_and(|at| at <= now);
        if is_due {
            let longest = LONGEST.min(self.timeout / 3);
            self.notice_at = Some(now.saturating_add(self.gap));
            self.gap = (self.gap * GROWTH).min(longest);
        }
        is_due
    }
}
