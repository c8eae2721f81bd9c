//! A peer that restarts after others have ended rounds: its program's first weights would set them back. It
//! sends nothing until it has updates of others, and resumes from their mean.

use std::time::Duration;

use inart_protocol_peers::Outcome;

use super::newcomer::Newcomer;
use super::{Peer, Phase};
use crate::average::average_of_others;
use crate::setup::Sync;

impl Peer {
    /// Starts to take part: in the first round, or behind others' rounds.
    pub(super) fn enter(&mut self, now: Duration) {
        let is_over = self.ended >= self.setup.rounds;
        if self.ended == 0 || is_over {
            self.counters.restarted_from_init += u64::from(is_over);
            return self.begin_round(None, now);
        }
        self.newcomer = Some(Newcomer { since: now, passed: 0 });
        self.pass(now);
    }

    /// Ends this round without an own update.
    fn pass(&mut self, now: Duration) {
        self.counters.passed += 1;
        self.followed = None;
        self.reach(&Outcome { round: self.round(), ..Outcome::default() }, now);
    }

    /// Returns when the peer stops waiting for an update, where no round shows that none exists.
    pub(super) fn newcomer_until(&self) -> Option<Duration> {
        self.newcomer.map(|newcomer| newcomer.since.saturating_add(self.setup.peer_timeout))
    }

    /// Takes a step once others permit the next round. Returns whether it did.
    pub(super) fn proceed_as_newcomer(&mut self, now: Duration) -> bool {
        let received = self.take_inbox();
        let adopted = average_of_others(self.setup.me, self.cut.values(), &received);
        let Some(newcomer) = self.newcomer.filter(|_| adopted.is_none()) else {
            self.newcomer = None;
            self.begin_round(adopted, now);
            return true;
        };
        // In bulk synchronous rounds no more updates of this one arrive. A peer that was not chosen as a
        // receiver is chosen in a later round; after a restart of all, no peer has a model.
        let is_over = match self.setup.sync {
            Sync::Bsp => newcomer.passed >= self.setup.peers(),
            Sync::Ssp { .. } => Some(now) >= self.newcomer_until(),
        };
        if is_over || self.ended >= self.setup.rounds {
            self.newcomer = None;
            self.counters.restarted_from_init += 1;
            self.begin_round(None, now);
            return true;
        }
        if self.setup.sync == Sync::Bsp {
            self.newcomer = Some(Newcomer { passed: newcomer.passed + 1, ..newcomer });
            self.pass(now);
            return true;
        }
        debug_assert_eq!(self.phase, Phase::Waiting);
        false
    }
}
