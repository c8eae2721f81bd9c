//! Determines the receivers: those the coordinator chose, or the last ones, plus those that have waited too
//! long.

use std::time::Duration;

use inart_protocol_peers::{Outcome, Receivers, Task};
use inart_wire::Rank;

use super::{Peer, Phase};
use crate::message::{Body, Choice};
use crate::term::Term;

impl Peer {
    /// Returns whether a coordinator is in charge, or takes charge now.
    pub(super) fn follows(&mut self, term: Option<Term>) -> bool {
        let term = term.unwrap_or_default();
        if term < self.term {
            self.counters.old_term += 1;
            self.report(Body::Refused(self.term));
            return false;
        }
        if term > self.term {
            (self.term, self.choice, self.followed) = (term, None, None);
        }
        true
    }

    /// Takes a choice of receivers.
    pub(super) fn chosen(&mut self, choice: Choice, now: Duration) {
        if !self.follows(choice.term) {
            return;
        }
        // A choice of a round far ahead would block all later ones. A coordinator that starts late also
        // chooses for the round after the last one.
        let is_far = choice.round > self.setup.rounds.saturating_add(1);
        let fits = choice.rate_bps > 0.0 && choice.rate_bps.is_finite() && !is_far;
        if !fits || choice.receivers.iter().any(|&rank| rank as usize >= self.setup.peers()) {
            self.counters.malformed += 1;
            return;
        }
        let known = self.choice.as_ref().map_or((0, None), |known| (known.round, Some(known.serial)));
        if choice.round < self.round() || (choice.round, Some(choice.serial)) <= known {
            self.counters.old_choice += 1;
            return;
        }
        let is_running = self.phase == Phase::Sending && choice.round == self.round();
        self.choice = Some(choice);
        if is_running {
            self.choose_again(now);
        }
    }

    /// Returns the receivers of the newest valid choice, and those that the fairness bound k adds.
    fn receivers_of(&mut self, choice: Option<&Choice>) -> Receivers {
        let me = self.setup.me;
        let of = |choice: &Choice| {
            choice.receivers.iter().filter_map(|&rank| Rank::try_from(rank as usize).ok()).collect()
        };
        let mut receivers: Receivers = choice.map_or_else(|| self.last_receivers.clone(), of);
        for at in 0..self.setup.peers() {
            let Ok(to) = Rank::try_from(at) else { continue };
            if to == me || !self.gate.has(at) {
                receivers.remove(to);
            } else if self.waits.is_forced(me.index(), at, self.setup.force_after) {
                self.counters.forced += u64::from(receivers.insert(to));
            }
        }
        receivers
    }

    /// Starts to send if the receivers are known or the wait for them has timed out. Returns whether it did.
    pub(super) fn choose(&mut self, since: Duration, now: Duration) -> bool {
        let round = self.round();
        let choice = self.choice.clone().filter(|choice| choice.round == round);
        let is_late = now >= since.saturating_add(self.setup.choice_patience);
        if choice.is_none() && self.has_coordinator && !is_late {
            return false;
        }
        self.counters.rounds_with_previous_receivers += u64::from(choice.is_none());
        let receivers = self.receivers_of(choice.as_ref());
        if let Some(choice) = &choice {
            self.rate_bps = choice.rate_bps;
            self.last_receivers = receivers.clone();
        }
        let is_chosen = choice.is_some();
        self.followed = choice.map(|choice| choice.serial);
        self.phase = Phase::Sending;
        self.left_at = now;
        // Without a chosen rate: each chunk crosses the own port once per block of receivers.
        let frames = receivers.blocks().len().max(1) as f64;
        let rate_bps =
            if is_chosen { self.rate_bps } else { self.rate_bps.min(self.setup.rate_bps / frames) };
        let task = Task { round, chunks: self.cut.chunks(), receivers, rate_bps };
        if self.sender.begin(&task, now).is_err() {
            // No other peer takes part.
            self.end_round(Outcome { round, ..Outcome::default() }, now);
        }
        true
    }

    /// Applies another choice to the active multicast: fewer receivers, or another rate.
    fn choose_again(&mut self, now: Duration) {
        let Some(choice) = self.choice.clone().filter(|_| self.followed.is_some()) else { return };
        let receivers = self.receivers_of(Some(&choice));
        let added = self.sender.retain(&receivers, now);
        self.counters.added += added.len() as u64;
        self.rate_bps = choice.rate_bps;
        self.sender.set_rate(choice.rate_bps, now);
        self.followed = Some(choice.serial);
    }
}
