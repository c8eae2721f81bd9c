//! How a site begins: it meets its neighbours, and joins them where they are.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_sites::SiteNo;

use crate::incoming::{Added, Incoming};
use crate::message::{Body, State, StateWanted};
use crate::policy_message::policy;
use crate::state::TrainingState;

use super::{Driver, DriverError, Heard, Output, Peer, Phase};

/// A neighbour that sends no new part of its state for this time is not waited for.
const STATE_WAIT: Duration = Duration::from_secs(10);

/// After this number of states that differ from their digest a site ends.
const MOST_WRONG_STATES: u64 = 3;

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
            // This site has restarted: until now its links were down, and others took detours.
            let down = self.setup.my_neighbours().iter().map(|&neighbour| (neighbour, now));
            self.down_at.extend(down);
            self.want_state(site, now);
        }
    }

    /// Asks a site for its state, or for the rest of the state whose beginning this site has.
    pub(super) fn want_state(&mut self, site: SiteNo, now: Duration) {
        self.phase = Phase::Joining { asked: site, since: now };
        self.asked_for_state.insert(site);
        let rest = |begun: &Incoming| StateWanted {
            digest: begun.digest(),
            offset: begun.received(),
            is_over: false,
        };
        let wanted = self.incoming.as_ref().map(rest).unwrap_or_default();
        self.send(Peer::Site(site), Body::StateWanted(wanted), i32::MAX);
    }

    /// A neighbour has said where it is. If it is ahead, it may have the sums that this site misses; if it
    /// has not, since it has restarted, this site goes on from its state.
    pub(super) fn ask_who_is_ahead(
        &mut self,
        site: SiteNo,
        theirs: Heard,
        cannot_answer: Option<u32>,
        now: Duration,
    ) {
        let round = self.site.round();
        if let Phase::Joining { asked, .. } = self.phase
            && asked == site
            && self.incoming.as_ref().is_some_and(|begun| theirs.round > begun.round().checked_add(1))
        {
            // The sites have gone on: the site that gives has stopped, and has a newer state.
            return self.want_state(site, now);
        }
        let is_ahead = theirs.round > round || theirs.is_finished;
        match cannot_answer {
            _ if self.phase != Phase::Reducing || !is_ahead => {}
            Some(asked) if Some(asked) == round => self.want_state(site, now),
            // Who has just finished is about to send what is missing.
            None if theirs.round > round => {
                self.counters.asks += 1;
                self.site.ask(1, &[site]);
            }
            Some(_) | None => {}
        }
    }

    /// Goes on from the state of a neighbour that is where this site has to be. Others cannot complete this
    /// site's round, or not by its policy, if that neighbour
    /// - is more than one round ahead: no site is (docs/protocol/sites.md, S4), unless this one began anew
    ///   while others went on, since all of its neighbours had restarted with it and nobody near knew the
    ///   round;
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

    /// Asks another neighbour if one has sent no new part for a while. If there is none, all that knew the
    /// round have restarted since.
    pub(super) fn wait_for_state(&mut self, asked: SiteNo, since: Duration, now: Duration) {
        let is_gone = !self.up.contains(&Peer::Site(asked));
        if is_gone || now.saturating_sub(since) >= STATE_WAIT {
            self.ask_another(asked, now);
        }
    }

    /// Asks the next neighbour that knows the round for its state, or the same one if there is no other.
    fn ask_another(&mut self, asked: SiteNo, now: Duration) {
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

    /// The last round is over. The site stays for those who are not done, and tells who comes back how the
    /// training ended.
    ///
    /// # Errors
    /// If a round goes on.
    pub fn finish(&mut self, training: impl Into<TrainingState>, now: Duration) -> Result<(), DriverError> {
        let Phase::Ready { .. } = self.phase else { return Err(DriverError::NotReady) };
        self.phase = Phase::Finished { training: training.into() };
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
            && !self.giving.is_busy()
    }

    /// Whether a site is being sent this one's state.
    pub fn is_giving(&self) -> bool {
        self.giving.is_busy()
    }

    /// A part of a state has arrived. When all parts have, this site goes on from there.
    pub(super) fn state(&mut self, from: SiteNo, part: State, now: Duration) {
        let Phase::Joining { asked, .. } = self.phase else { return self.no_more_state(from) };
        let is_of = self.incoming.as_ref().map(|begun| begun.is_of(&part));
        if !self.asked_for_state.contains(&from) {
            self.counters.unasked += 1;
            return self.no_more_state(from);
        }
        if is_of == Some(false) && from != asked {
            return self.no_more_state(from);
        }
        if is_of != Some(true) {
            self.incoming = Incoming::new(&part);
        }
        let policy = part.policy.map(policy).and_then(Result::ok);
        if let Some(Err(fault)) = policy.as_ref().map(|policy| self.setup.check_plan(policy)) {
            return self.refuse_plan(Peer::Site(from), &fault.to_string());
        }
        let is_complete = part.offset > 0 || part.is_finished || policy.is_some();
        let Some(begun) = self.incoming.as_mut().filter(|_| is_complete) else {
            self.counters.malformed += 1;
            return;
        };
        begun.policy = policy.map(Arc::new).or(begun.policy.take());
        match begun.add(part.offset, part.training) {
            Added::Malformed => self.counters.malformed += 1,
            Added::Nothing if from != asked => self.no_more_state(from),
            Added::Nothing => {}
            Added::Part => {
                self.phase = Phase::Joining { asked: from, since: now };
                self.progress(now);
            }
            Added::Whole => self.loaded(now),
            Added::WrongDigest => self.wrong_state(from, now),
        }
    }

    /// Goes on from a state that is whole.
    fn loaded(&mut self, now: Duration) {
        let Some(begun) = self.incoming.take() else { return };
        self.asked_for_state.clear();
        self.progress(now);
        let (round, is_finished, policy) = (begun.round(), begun.is_finished(), begun.policy.clone());
        let state = begun.into_state();
        let training = state.bytes().clone();
        if is_finished {
            self.phase = Phase::Finished { training: state };
            self.say_hello_to_all();
            return self.outputs.push_back(Output::Ended { training });
        }
        self.phase = Phase::Ready { round, join: policy };
        self.outputs.push_back(Output::Ready { round, training: Some(training) });
    }

    /// A state differs from its digest: this site asks for it from the beginning, but not for ever.
    fn wrong_state(&mut self, from: SiteNo, now: Duration) {
        self.incoming = None;
        self.counters.wrong_states += 1;
        if self.counters.wrong_states >= MOST_WRONG_STATES {
            return self.give_up(DriverError::WrongState { site: self.setup.name(from) });
        }
        self.ask_another(from, now);
    }

    /// Tells a site to send no more parts: this site has the state, or takes it from another site.
    fn no_more_state(&mut self, site: SiteNo) {
        let over = StateWanted { is_over: true, ..StateWanted::default() };
        self.send(Peer::Site(site), Body::StateWanted(over), i32::MAX);
    }
}
