//! Who is there: whoever is heard of; and what is said so that others hear.

use std::time::Duration;

use inart_multicast::Receivers;
use inart_wire::{Incarnation, Rank};

use super::{Output, Peer, Phase};
use crate::notice::Notice;

/// A notice is said again after that time, then after twice that time, up to the longest.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(800);

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
    fn find(&mut self, now: Duration) -> Vec<Rank> {
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

    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.notice_at.is_some_and(|at| at <= now);
        if is_due {
            let longest = LONGEST.min(self.timeout / 3);
            self.notice_at = Some(now.saturating_add(self.gap));
            self.gap = (self.gap * 2).min(longest);
        }
        is_due
    }
}

impl Peer {
    pub(super) fn find_gone(&mut self, now: Duration) {
        for rank in self.liveness.find(now) {
            self.counters.gone += 1;
            self.lose(rank, now);
        }
    }

    /// Nobody waits for a peer any more.
    pub(super) fn lose(&mut self, rank: Rank, now: Duration) {
        self.gate.leave(rank.index());
        self.sender.gone(rank, now);
        self.receiver.gone(rank);
    }

    /// A peer takes part, and has ended so many rounds.
    pub(super) fn win(&mut self, rank: Rank, ended: u32, now: Duration) {
        self.gate.join(rank.index(), ended.into());
        self.receiver.back(rank, ended.saturating_add(1));
        self.liveness.join(rank, now);
    }

    /// Tells all others where this peer is, when it is time.
    pub(super) fn notify_if_due(&mut self, now: Duration) {
        if self.phase == Phase::Meeting || !self.liveness.is_due(now) {
            return;
        }
        let others = (0..self.setup.peers()).filter_map(|at| Rank::try_from(at).ok());
        let is_there =
            |rank: &Rank| *rank != self.setup.me && self.members.life(*rank) != Incarnation::UNKNOWN;
        let to: Receivers = others.filter(is_there).collect();
        if !to.is_empty() {
            let notice = Notice { ended: self.ended, is_finished: self.ended >= self.setup.rounds };
            self.outputs.push_back(Output::Notify { to, notice });
        }
    }
}
