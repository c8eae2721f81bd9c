//! The end of a round, and the start of the next one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use inart_protocol_peers::{Copies, Outcome, Receivers};
use inart_wire::Rank;

use super::{Output, Peer, Phase, Start};
use crate::average::{Average, Received, average};
use crate::message::{Body, Ended, Sample};
use crate::setup::Sync;

/// An update that left this many times later than planned found the outgoing port full.
const LATE: f64 = 1.05;
/// In bulk synchronous rounds a peer is at most this far beyond the rounds that another one has ended; one
/// more for notices in flight. Updates of later rounds are not held.
const AHEAD: u32 = 2;

impl Peer {
    /// Takes a complete update.
    pub(super) fn keep(&mut self, from: Rank, round: u32, words: Vec<u32>) {
        // Until this peer averages, it waits for updates of the round that it has ended, not of older ones.
        let least = self.ended.saturating_add(u32::from(self.phase != Phase::Waiting));
        let is_averaged = self.setup.sync == Sync::Bsp && round < least;
        let update = Received { from, round, words: Arc::new(words) };
        self.outputs.push_back(Output::Received(update.clone()));
        if is_averaged {
            self.counters.superseded += 1;
        } else if self.setup.sync == Sync::Bsp && round > self.ended.saturating_add(AHEAD) {
            self.counters.ahead += 1;
        } else {
            self.hold(update);
        }
    }

    /// Holds an update. In stale synchronous rounds, only a sender's newest one is held and averaged.
    fn hold(&mut self, update: Received) {
        let (from, round) = (update.from, update.round);
        if self.setup.sync != Sync::Bsp {
            let of = (from, 0)..=(from, u32::MAX);
            let older: Vec<_> = self.inbox.range(of).map(|(key, _)| *key).collect();
            if older.last().is_some_and(|(_, newest)| *newest > round) {
                self.counters.superseded += 1;
                return;
            }
            for key in older {
                self.counters.superseded += u64::from(key.1 != round);
                self.inbox.remove(&key);
            }
        }
        self.inbox.insert((from, round), update);
    }

    /// Ends the round with its multicast.
    pub(super) fn end_round(&mut self, outcome: Outcome, now: Duration) {
        self.measure_up(&outcome);
        self.reach(&outcome, now);
        self.outputs
            .push_back(Output::Ended { outcome, rounds_with_previous_receivers: self.followed.is_none() });
    }

    /// Reports the end of the round to the coordinator and all peers.
    pub(super) fn reach(&mut self, outcome: &Outcome, now: Duration) {
        let me = self.setup.me;
        self.ended = outcome.round;
        self.gate.reach(me.index(), self.ended.into());
        self.waits.ended(me.index(), outcome.complete.iter().map(Rank::index));
        self.phase = Phase::Waiting;
        let ranks = |receivers: &Receivers| receivers.iter().map(|rank| rank.get().into()).collect();
        self.report(Body::Ended(Ended {
            round: outcome.round,
            complete: ranks(&outcome.complete),
            withdrawn: ranks(&outcome.withdrawn),
            given_up: ranks(&outcome.given_up),
            seconds: self.times_of(outcome),
        }));
        self.liveness.notify_soon(now);
    }

    /// Returns the duration of each copy, where the sender makes them: from the times of all peers, the
    /// coordinator derives which ports were full.
    fn times_of(&self, outcome: &Outcome) -> Vec<f64> {
        match self.setup.sender.copies {
            Copies::Switch { .. } => Vec::new(),
            Copies::Sender { .. } => outcome.times.values().map(Duration::as_secs_f64).collect(),
        }
    }

    /// Measures how fast the update left. A switch's copies leave the port once; if they left late, the port
    /// was full. The sender's own copies leave once per receiver, and may be late because of any port on
    /// their way: only the times of all copies together show which.
    fn measure_up(&mut self, outcome: &Outcome) {
        if matches!(self.setup.sender.copies, Copies::Sender { .. }) {
            return;
        }
        let bits = self.setup.update_bits(self.cut);
        let (seconds, planned) = (outcome.passed.as_secs_f64(), bits / self.rate_bps);
        let parts = [&outcome.complete, &outcome.withdrawn, &outcome.given_up];
        let frames = parts.into_iter().flat_map(Receivers::iter).collect::<Receivers>().blocks().len();
        if seconds <= 0.0 || outcome.complete.is_empty() {
            return;
        }
        // Each chunk is sent in as many frames.
        let bits = bits * frames as f64;
        self.meter.add(Sample { is_up: true, bits, seconds, is_full: seconds > LATE * planned });
    }

    /// Averages and starts the next round, if this peer is not too far ahead. Returns whether it did.
    pub(super) fn next_round(&mut self, now: Duration) -> bool {
        if !self.gate.is_open(self.setup.me.index()) {
            return false;
        }
        if self.newcomer.is_some() {
            return self.proceed_as_newcomer(now);
        }
        let received = self.take_inbox();
        let averaged = average(self.setup.me, &self.model, &received);
        self.counters.unfit += (averaged.not_finite.len() + averaged.other_length.len()) as u64;
        self.begin_round(Some(averaged), now);
        true
    }

    /// Removes and returns the updates to average now; those of later rounds stay.
    pub(super) fn take_inbox(&mut self) -> Vec<Received> {
        let inbox = std::mem::take(&mut self.inbox);
        let before = inbox.len();
        let mut taken: BTreeMap<Rank, Received> = BTreeMap::new();
        for ((from, round), update) in inbox {
            match self.setup.sync {
                Sync::Bsp if round > self.ended => {
                    self.inbox.insert((from, round), update);
                }
                Sync::Bsp if round < self.ended => {}
                // Rounds of a peer arrive in order: the newest is last.
                _ => {
                    taken.insert(from, update);
                }
            }
        }
        self.counters.superseded += (before - self.inbox.len() - taken.len()) as u64;
        taken.into_values().collect()
    }

    pub(super) fn begin_round(&mut self, average: Option<Average>, now: Duration) {
        let lacking = std::mem::take(&mut self.lacking);
        let start = Start { round: self.round(), average, lacking };
        self.liveness.notify_soon(now);
        if self.ended >= self.setup.rounds {
            self.phase = Phase::Finished;
            self.outputs.push_back(Output::Finished(start));
        } else {
            self.phase = Phase::Computing { since: now };
            self.outputs.push_back(Output::Compute(start));
        }
    }
}
