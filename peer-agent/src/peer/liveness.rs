//! When somebody was heard of last, and when to say something so that others hear.

use std::time::Duration;

use inart_multicast::Receivers;
use inart_wire::Rank;

/// A notice is said again after that time, then after four times that time, up to the longest. Every peer has
/// all others', so that more of them would take a part of its port.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(800);
const GROWTH: u32 = 4;

/// What is known of the others' lives.
#[derive(Debug, Clone)]
pub(super) struct Liveness {
    timeout: Duration,
    /// When something was heard of each peer last, by rank; `None` of those that nobody waits for.
    heard: Vec<Option<Duration>>,
    gone: Receivers,
    notice_at: Option<Duration>,
    gap: Duration,
}

impl Liveness {
    pub fn new(peers: usize, timeout: Duration) -> Self {
        let (heard, gone) = (vec![None; peers], Receivers::default());
        Liveness { timeout, heard, gone, notice_at: None, gap: SHORTEST }
    }

    /// A peer takes part.
    pub fn join(&mut self, rank: Rank, now: Duration) {
        self.heard[rank.index()] = Some(now);
        self.gone.remove(rank);
    }

    /// Something came of a peer. Of one that is gone, it may have been under way for long.
    pub fn hear(&mut self, rank: Rank, now: Duration) {
        if let Some(heard) = &mut self.heard[rank.index()] {
            *heard = now;
        }
    }

    /// Those of which nothing was heard for too long, from now on gone.
    pub fn find(&mut self, now: Duration) -> Vec<Rank> {
        let late = |heard: &Option<Duration>| heard.is_some_and(|at| now >= at.saturating_add(self.timeout));
        let ranks = (0..self.heard.len()).filter(|&at| late(&self.heard[at]));
        let found: Vec<Rank> = ranks.filter_map(|at| Rank::try_from(at).ok()).collect();
        for &rank in &found {
            self.heard[rank.index()] = None;
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
        let first = self.heard.iter().flatten().min().map(|at| at.saturating_add(self.timeout));
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
