//! How a site begins: it meets its neighbours, and joins them where they are.

use std::time::Duration;

use bytes::Bytes;
use inart_sites::SiteNo;

use crate::message::{Body, Hello, State, StateWanted};
use crate::policy_message::{policy, policy_message};

use super::{Driver, DriverError, Heard, Output, Peer, Phase};

/// A neighbour that does not send its state in this time is not waited for.
const STATE_WAIT: Duration = Duration::from_secs(10);

/// A policy that was asked for so often in vain is not waited for.
pub(super) const VAIN: usize = 2;

impl Driver {
    /// Begins when all neighbours have said where they are: with them if they have not begun either, else in
    /// the earliest round that one of them is in. Those who began anew while others went on do not count.
    pub(super) fn meet(&mut self, now: Duration) {
        let all = self.setup.my_neighbours().iter().all(|site| self.heard.contains_key(site));
        if !all {
            return;
        }
        let rounds = || self.heard.values().filter_map(|heard| heard.round);
        let newest = rounds().max();
        let is_left_behind = |round: u32| newest.is_some_and(|newest| newest > round.saturating_add(1));
        let earliest = rounds().filter(|&round| !is_left_behind(round)).min().unwrap_or(0);
        if earliest == 0 {
            let met_at = *self.met_at.get_or_insert(now);
            if self.may_begin_first(now.saturating_sub(met_at)) {
                self.begin_first(now);
            }
            return;
        }
        let there = self.heard.iter().filter(|(_, heard)| heard.round == Some(earliest));
        if let Some((&site, _)) = there.min_by_key(|(_, heard)| heard.is_finished) {
            self.want_state(site, now);
        }
    }

    fn want_state(&mut self, site: SiteNo, now: Duration) {
        self.phase = Phase::Joining { asked: site, since: now };
        self.send(Peer::Site(site), Body::StateWanted(StateWanted {}), i32::MAX);
    }

    /// A neighbour has said where it is. If it is ahead, it may have the sums that this site misses; if it
    /// has not, since it has restarted, this site goes on from its state.
    pub(super) fn ask_who_is_ahead(&mut self, site: SiteNo, hello: &Hello, now: Duration) {
        let round = self.site.round();
        let is_ahead = hello.round > round || hello.is_finished;
        match hello.cannot_answer {
            _ if self.phase != Phase::Reducing || !is_ahead => {}
            Some(asked) if Some(asked) == round => self.want_state(site, now),
            // Who has just finished is about to send what is missing.
            None if hello.round > round => {
                self.counters.asks += 1;
                self.site.ask(1, &[site]);
            }
            Some(_) | None => {}
        }
    }

    /// Goes on from the state of a neighbour that is where this site has to be. Others cannot complete this
    /// site's round, or not by its policy, if that neighbour
    /// - is more than one round ahead: no site is (docs/protocol.md, S4), unless this one began anew while
    ///   others went on, since all of its neighbours had restarted with it and nobody near knew the round;
    /// - is in this round by a newer policy, or in the next one, whose policy this site asked for in vain:
    ///   who knew what the sites agreed on has restarted, and others have agreed again or go on
    ///   [without it](Self::go_on_without).
    pub(super) fn follow(&mut self, now: Duration) {
        let Some(round) = self.site.round() else { return };
        let (version, is_lacking) = (self.site.policy_version(), matches!(self.phase, Phase::Lacks { .. }));
        let is_there = |heard: &Heard| match heard.round {
            Some(other) if other > round.saturating_add(1) => true,
            Some(other) if other > round => is_lacking && self.attempt >= VAIN,
            Some(other) => other == round && heard.version > version && !is_lacking,
            None => false,
        };
        let there = self.heard.iter().filter(|(_, heard)| is_there(heard));
        let furthest = there.max_by_key(|(_, heard)| (heard.round, heard.version)).map(|(&site, _)| site);
        if let Some(site) = furthest {
            self.want_state(site, now);
        }
    }

    /// Asks another neighbour when one does not answer. If there is none, whoever knew the round has
    /// restarted since.
    pub(super) fn wait_for_state(&mut self, asked: SiteNo, since: Duration, now: Duration) {
        let is_gone = !self.up.contains(&Peer::Site(asked));
        if !is_gone && now.saturating_sub(since) < STATE_WAIT {
            return;
        }
        let begun: Vec<SiteNo> = self
            .heard
            .iter()
            .filter(|(_, heard)| heard.round > self.site.round())
            .map(|(&site, _)| site)
            .collect();
        let next = begun.iter().find(|&&site| site > asked).or(begun.first());
        match (next, self.site.round()) {
            (Some(&site), _) => self.want_state(site, now),
            (None, None) => self.phase = Phase::Meeting,
            (None, Some(_)) => self.phase = Phase::Reducing,
        }
    }

    /// A site wants this one's state: it gets that of the round that goes on.
    pub(super) fn state_wanted(&mut self, by: SiteNo) {
        if !self.setup.can_rejoin {
            let name = self.setup.name(by);
            let told = format!("site {name} was restarted, and workers inside sites cannot go back with it");
            return self.end_everywhere(&told);
        }
        self.wants_state.insert(by);
    }

    /// Asks the training program for its state when somebody wants it and it can tell.
    pub(super) fn give_wanted_states(&mut self) {
        let round = self.site.round().unwrap_or(0);
        if round > 0 && !self.wants_state.is_empty() {
            self.outputs.push_back(Output::StateWanted { round });
        }
    }

    /// The training program's state before a round, which [`Output::StateWanted`] asked for.
    pub fn give_state(&mut self, round: u32, training: &Bytes, now: Duration) {
        let Some(start) = self.starts.iter().find(|start| start.round == round) else { return };
        let state = State {
            round,
            policy: Some(policy_message(&start.policy)),
            training: training.clone(),
            is_finished: false,
        };
        self.send_state(&state);
        self.go_on(now);
    }

    fn send_state(&mut self, state: &State) {
        for site in std::mem::take(&mut self.wants_state) {
            self.send(Peer::Site(site), Body::State(state.clone()), 0);
        }
    }

    /// The last round is over. The site stays for those who are not done, and tells who comes back how the
    /// training ended.
    ///
    /// # Errors
    /// If a round goes on.
    pub fn finish(&mut self, training: Bytes, now: Duration) -> Result<(), DriverError> {
        let Phase::Ready { .. } = self.phase else { return Err(DriverError::NotReady) };
        self.phase = Phase::Finished { training };
        self.say_hello_to_all();
        self.go_on(now);
        Ok(())
    }

    /// Whether nobody needs this site any more: all neighbours that are there have finished, too.
    pub fn may_leave(&self) -> bool {
        let all = self.heard.values().all(|heard| heard.is_finished);
        matches!(self.phase, Phase::Finished { .. })
            && all
            && self.sending.is_empty()
            && self.held_back.is_empty()
    }

    pub(super) fn give_last_state(&mut self, training: &Bytes) {
        let round = self.site.round().unwrap_or(0).saturating_add(1);
        self.send_state(&State { round, policy: None, training: training.clone(), is_finished: true });
    }

    /// A neighbour's state: this site goes on from there.
    pub(super) fn state(&mut self, state: State) {
        if !matches!(self.phase, Phase::Joining { .. }) {
            return;
        }
        if state.is_finished {
            self.phase = Phase::Finished { training: state.training.clone() };
            self.say_hello_to_all();
            return self.outputs.push_back(Output::Ended { training: state.training });
        }
        let policy = state.policy.map(policy).and_then(Result::ok);
        let fits = |policy: &inart_sites::Policy| {
            let chunks = self.setup.chunk_values.len();
            policy.chunks() == chunks && policy.sites == self.setup.sites && policy.check().is_ok()
        };
        let Some(policy) = policy.filter(fits) else {
            self.counters.malformed += 1;
            return;
        };
        self.phase = Phase::Ready { round: state.round, join: Some(policy.into()) };
        self.outputs.push_back(Output::Ready { round: state.round, training: Some(state.training) });
    }

    pub(super) fn other_job(&mut self, site: SiteNo) {
        self.counters.strangers += 1;
        if self.phase == Phase::Meeting {
            self.give_up(DriverError::OtherJob { site: self.setup.name(site) });
        }
    }
}
