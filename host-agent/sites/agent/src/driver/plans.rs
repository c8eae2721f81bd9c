//! Handling of offered and requested plans.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_sites::TransmissionPolicy;

use crate::message::Body;
use crate::policy_message::{PolicyMessage, policy, policy_message};

use super::phase::SchedulerTerms;
use super::{Driver, Peer, Phase, Warning};

impl Driver {
    /// Handles an offer of a plan from the scheduler, or from a neighbor that this site asked for the plan.
    pub(super) fn offer(&mut self, from: Peer, offer: PolicyMessage, now: Duration) {
        let Ok(policy) = policy(offer) else {
            self.counters.malformed += 1;
            return;
        };
        if from == Peer::Scheduler && self.scheduler_terms == SchedulerTerms::Unknown {
            if self.early_offer.as_ref().is_none_or(|held| held.version < policy.version) {
                self.early_offer = Some(policy);
            }
            return;
        }
        self.judge_offer(from, policy, now);
    }

    /// Checks the plan that arrived before the scheduler's terms, which are now known.
    pub(super) fn judge_early_offer(&mut self, now: Duration) {
        if let Some(policy) = self.early_offer.take() {
            self.judge_offer(Peer::Scheduler, policy, now);
        }
    }

    fn judge_offer(&mut self, from: Peer, policy: TransmissionPolicy, now: Duration) {
        let version = policy.version;
        let is_refused = from == Peer::Scheduler && self.scheduler_terms == SchedulerTerms::Different;
        let is_lacking = matches!(self.phase, Phase::Lacks { version: lacked, .. } if lacked == version);
        if version <= self.site.policy_version() || is_refused {
            self.counters.refused_offers += 1;
            return;
        }
        if from != Peer::Scheduler && !is_lacking {
            return self.refuse_plan(from, "this site has not asked for it");
        }
        if let Err(fault) = self.setup.check_plan(&policy) {
            return self.refuse_plan(from, &fault.to_string());
        }
        if self.site.offered(version).is_some_and(|held| *held != policy) {
            return self.refuse_plan(from, "another plan has the same version");
        }
        self.take_plan(policy, is_lacking, now);
        self.has_offer |= from == Peer::Scheduler;
    }

    fn take_plan(&mut self, policy: TransmissionPolicy, is_lacking: bool, now: Duration) {
        if self.site.offer(Arc::new(policy)).is_err() {
            self.counters.refused_offers += 1;
            return;
        }
        if let Phase::Lacks { gradient, .. } = &mut self.phase
            && is_lacking
        {
            let gradient = Some(std::mem::take(gradient));
            if let Err(error) = self.begin_next(gradient, now) {
                self.give_up(error);
            }
        }
    }

    /// Counts an invalid plan, and warns once per sender. The training continues.
    pub(super) fn refuse_plan(&mut self, from: Peer, why: &str) {
        self.counters.refused_offers += 1;
        let name = match from {
            Peer::Site(site) => self.setup.name(site),
            Peer::Scheduler => "the scheduler".to_owned(),
        };
        let text = format!(
            "a plan of {name} was refused: {why}; give all sites and the scheduler the same document"
        );
        self.warn(from, Warning::Plan, text);
    }

    /// Sends a plan that a site requested by version.
    pub(super) fn policy_wanted(&mut self, by: Peer, version: u64) {
        let in_force = Some(self.site.policy()).filter(|policy| policy.version == version);
        let held = in_force.cloned().or_else(|| self.site.offered(version));
        match held {
            Some(policy) => {
                self.send(by, Body::Offer(policy_message(&policy)), i32::MAX);
            }
            // The asking site learns the rounds of other sites.
            None => self.say_hello(by),
        }
    }
}
