//! When somebody was heard of last, and when to say something so that others hear.

use std::time::Duration;

use inart_protocol_peers::Receivers;
use inart_wire::Rank;

/// A notice is said again after that time, then after four times that time, up to the longest. Every peer has
/// all others', so that more of them would take a part of its port.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(800);
const GROWTH: u32 = 4;
/// A peer whose connection has ended is gone after that time, unless there is another connection by then.
const RECONNECTION: Duration = Duration::from_millis(500);

/// What is known of the others' lives.
#[derive(Debug, Clone)]
pub(super) struct Liveness {
    timeout: Duration,
    /// Until when something has to be heard of each peer, by rank; `None` of those that nobody waits for.
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

    /// A peer takes part.
    pub fn join(&mut self, rank: Rank, now: Duration) {
        self.until[rank.index()] = Some(now.saturating_add(self.timeout));
        self.gone.remove(rank);
    }

    /// Something came of a peer. Of one that is gone, it may have been under way for long.
    pub fn observe(&mut self, rank: Rank, now: Duration) {
        if let Some(until) = &mut self.until[rank.index()] {
            *until = now.saturating_add(self.timeout);
        }
    }

    /// The connection to a peer has ended: it has little time to be heard of by another one.
    pub fn doubt(&mut self, rank: Rank, now: Duration) {
        if let Some(until) = &mut self.until[rank.index()] {
            *until = now.saturating_add(RECONNECTION).min(*until);
        }
    }

    /// Those of which nothing was heard for too long, from now on gone.
    pub fn find(&mut self, now: Duration) -> Vec<Rank> {
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

    /// Who is gone by this peer's own knowledge, ascending.
    pub fn gone(&self) -> Vec<u32> {
        self.gone.iter().map(|rank| rank.get().into()).collect()
    }

    /// Something is to be said at once, and then again and again.
    pub fn speak(&mut self, now: Duration) {
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
