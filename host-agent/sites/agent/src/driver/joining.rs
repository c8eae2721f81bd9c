//! Start of a site: waits for the hellos of its neighbors, and joins their current round.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_sites::SiteNo;

use crate::incoming::{Added, Incoming};
use crate::message::{Body, State, StateWanted};
use crate::policy_message::policy;
use crate::state::TrainingState;

use super::{Driver, DriverError, Heard, Output, Peer, Phase};

/// Time without a new part of a neighbor's state after which the site stops waiting for it.
const STATE_WAIT: Duration = Duration::from_secs(10);

/// Number of states with a wrong digest after which a site ends.
const MOST_WRONG_STATES: u64 = 3;

/// Number of unanswered requests for a policy after which the site stops waiting for it.
pub(super) const VAIN: usize = 2;

impl Driver {
    /// Starts when all neighbors have sent their hellos: with them if they have not started either, else in
    /// the earliest round of a neighbor. Neighbors that restarted from scratch while others continued do not
    /// count.
    pub(super) fn meet(&mut self, now: Duration) {
        let all = self.setup.my_neighbors().iter().all(|site| self.heard.contains_key(site));
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
            // This site has restarted: until now its links were down, and other sites used detours.
            let down = self.setup.my_neighbors().iter().map(|&neighbor| (neighbor, now));
            self.down_at.extend(down);
            self.want_state(site, now);
        }
    }

    /// Asks a site for its state, or for the rest of the state that this site has partially received.
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

    /// Handles the position of a neighbor. A neighbor that is ahead may have the sums that this site misses.
    /// If it has restarted and lacks them, this site resumes from its state.
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
            // The sites have advanced: the sending site has stopped, and has a newer state.
            return self.want_state(site, now);
        }
        let is_ahead = theirs.round > round || theirs.is_finished;
        match cannot_answer {
            _ if self.phase != Phase::Reducing || !is_ahead => {}
            Some(asked) if Some(asked) == round => self.want_state(site, now),
            // A neighbor that has just finished is about to send the missing chunks.
            None if theirs.round > round => {
                self.counters.asks += 1;
                self.site.ask(1, &[site]);
            }
            Some(_) | None => {}
        }
    }

    /// Resumes from the state of a neighbor that is where this site must be. Other sites cannot complete this
    /// site's round, or not by its policy, if that neighbor
    ///
    /// - is more than one round ahead. No site is (docs/protocol/sites.md, S4), unless this site restarted
    ///   from scratch while others continued, since all of its neighbors had restarted with it and no site
    ///   nearby knew the round;
    ///
    /// - is in this round by a newer policy, or in the next round, whose policy this site requested without
    ///   an answer. The site that knew the agreed policy has restarted, and the others have agreed again or
    ///   continue [without it](Self::go_on_without).
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

    /// Asks another neighbor if the current one has sent no new part for a while. If no other neighbor
    /// remains, all sites that knew the round have restarted since.
    pub(super) fn wait_for_state(&mut self, asked: SiteNo, since: Duration, now: Duration) {
        let is_gone = !self.up.contains(&Peer::Site(asked));
        if is_gone || now.saturating_sub(since) >= STATE_WAIT {
            self.ask_another(asked, now);
        }
    }

    /// Asks the next neighbor that knows the round for its state, or the current one if it is the only one.
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

    /// Ends the last round. The site stays connected for unfinished sites, and sends the final state to sites
    /// that rejoin.
    ///
    /// # Errors
    /// An active round.
    pub fn finish(&mut self, training: impl Into<TrainingState>, now: Duration) -> Result<(), DriverError> {
        let Phase::Ready { .. } = self.phase else { return Err(DriverError::NotReady) };
        self.phase = Phase::Finished { training: training.into() };
        self.say_hello_to_all();
        self.go_on(now);
        Ok(())
    }

    /// Whether no site needs this one any more: all connected neighbors have finished, too.
    pub fn may_leave(&self) -> bool {
        let all = self.heard.values().all(|heard| heard.is_finished);
        matches!(self.phase, Phase::Finished { .. })
            && all
            && self.sending.is_empty()
            && self.held_back.is_empty()
            && !self.giving.is_busy()
    }

    /// Whether this site is sending its state to another site.
    pub fn is_giving(&self) -> bool {
        self.giving.is_busy()
    }

    /// Handles a part of a state. After the last part, this site resumes from the state.
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

    /// Resumes from a complete state.
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

    /// Handles a state that differs from its digest: this site requests it from the beginning, a limited
    /// number of times.
    fn wrong_state(&mut self, from: SiteNo, now: Duration) {
        self.incoming = None;
        self.counters.wrong_states += 1;
        if self.counters.wrong_states >= MOST_WRONG_STATES {
            return self.give_up(DriverError::WrongState { site: self.setup.name(from) });
        }
        self.ask_another(from, now);
    }

    /// Asks a site to send no more parts: this site has the state, or takes it from another site.
    fn no_more_state(&mut self, site: SiteNo) {
        let over = StateWanted { is_over: true, ..StateWanted::default() };
        self.send(Peer::Site(site), Body::StateWanted(over), i32::MAX);
    }
}
