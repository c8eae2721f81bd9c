//! Exchange of hellos: sites and their scheduler compare their terms.

use std::time::Duration;

use inart_protocol_sites::SiteNo;
use inart_terms::{Difference, Terms};

use crate::message::{Body, Hello};

use super::phase::SchedulerTerms;
use super::{Driver, DriverError, Heard, Peer, Phase, Warning};

impl Driver {
    pub(super) fn say_hello(&mut self, peer: Peer) {
        self.hello_to(peer, None);
    }

    pub(super) fn say_hello_to_all(&mut self) {
        self.up.clone().into_iter().for_each(|peer| self.say_hello(peer));
    }

    /// Creates the hello for a peer. `cannot_answer`: round of a request that this site has no answer to.
    pub(super) fn hello_to(&mut self, peer: Peer, cannot_answer: Option<u32>) -> Option<u64> {
        let terms = match peer {
            Peer::Site(_) => &self.setup.terms,
            Peer::Scheduler => &self.setup.plan_terms,
        };
        let hello = Hello {
            cannot_answer,
            round: self.site.round(),
            version: self.site.policy_version(),
            is_finished: matches!(self.phase, Phase::Finished { .. }),
            terms: terms.message(),
        };
        self.send(peer, Body::Hello(hello), i32::MAX)
    }

    /// Handles the hello of a neighbor, with its round and its terms.
    pub(super) fn hello(&mut self, site: SiteNo, hello: Hello, now: Duration) {
        let Hello { round, version, is_finished, cannot_answer, terms } = hello;
        let Ok(terms) = Terms::from_message(terms) else {
            self.counters.malformed += 1;
            return;
        };
        if let Some(difference) = self.setup.terms.differs(&terms) {
            return self.refuse_site(site, &difference, round.is_some());
        }
        let heard = Heard { round, version, is_finished };
        self.heard.insert(site, heard);
        self.ask_who_is_ahead(site, heard, cannot_answer, now);
    }

    /// Refuses a neighbor with other terms. A site that has not started ends, and makes sure that the
    /// neighbor has its terms. If the neighbor has not started either, no site can start, and the reason is
    /// sent to all sites that have not started.
    fn refuse_site(&mut self, site: SiteNo, difference: &Difference, is_running: bool) {
        self.counters.unknown_senders += 1;
        let (name, own) = (self.setup.name(site), self.setup.name(self.setup.me));
        let in_words = difference.between(&name, "this site");
        if self.phase != Phase::Meeting {
            let text = format!("{in_words}; {name} is refused: give all sites the same");
            return self.warn(Peer::Site(site), Warning::Terms, text);
        }
        let hello = self.hello_to(Peer::Site(site), None);
        self.farewells.extend(hello);
        let reason = format!("{}; give all sites the same", difference.between(&name, &own));
        let reason = Some(reason).filter(|_| !is_running);
        if let Some(reason) = &reason {
            self.notify_all(reason, Some(site), true);
        }
        self.give_up(DriverError::Differs { site: name, difference: in_words, reason });
    }

    /// Handles the scheduler's hello. If its terms differ, its plans are refused, and rounds use the sites'
    /// existing plans.
    pub(super) fn scheduler_hello(&mut self, hello: Hello, now: Duration) {
        let Ok(terms) = Terms::from_message(hello.terms) else {
            self.counters.malformed += 1;
            return;
        };
        let difference = self.setup.plan_terms.differs(&terms);
        self.scheduler_terms = match difference {
            None => SchedulerTerms::Equal,
            Some(_) => SchedulerTerms::Different,
        };
        self.judge_early_offer(now);
        let Some(difference) = difference else { return };
        self.counters.unknown_senders += 1;
        let in_words = difference.between("the scheduler", "this site");
        let text = format!("{in_words}; its plans are refused: give both the same document and scheme");
        self.warn(Peer::Scheduler, Warning::Terms, text);
    }
}
