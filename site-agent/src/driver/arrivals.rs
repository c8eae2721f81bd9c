//! What arrives.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_sites::{Ask, ChunkNo, Parcel, SiteNo};

use crate::gradient::ChunkSum;
use crate::message::{self, Body, Hello};
use crate::policy_message::{PolicyMessage, policy, policy_message};

use super::{Driver, Heard, Peer, Phase};

impl Driver {
    /// A message has arrived.
    pub fn message(&mut self, from: Peer, data: Bytes, now: Duration) {
        let Ok(body) = message::decode(data) else {
            self.counters.malformed += 1;
            return;
        };
        match (body, from) {
            (Body::Hello(hello), Peer::Site(site)) => self.hello(site, &hello, now),
            (Body::Hello(_), Peer::Scheduler) => {}
            (Body::Offer(offer), _) => self.offer(offer, now),
            (Body::PolicyWanted(wanted), _) => self.policy_wanted(from, wanted.version),
            (Body::Chunk(chunk), Peer::Site(_)) => match message::parcel(chunk) {
                Ok(parcel) if self.is_whole(&parcel) => {
                    let is_of_round = parcel.to == self.setup.me && Some(parcel.round) == self.site.round();
                    if is_of_round {
                        (self.heard_at, self.attempt) = (now, 0);
                    }
                    let dropped = self.site.counters().dropped();
                    self.site.receive(parcel);
                    if is_of_round && self.site.counters().dropped() == dropped {
                        self.progress(now);
                    }
                }
                _ => self.counters.malformed += 1,
            },
            (Body::Ask(ask), Peer::Site(_)) => match message::ask(ask) {
                Ok(mut ask) => {
                    self.leave_out_what_is_under_way(&mut ask);
                    let (before, by, round) = (self.site.counters().unanswerable, ask.from, ask.round);
                    self.site.asked(ask);
                    if self.site.counters().unanswerable > before {
                        // It may be too far behind; so it learns where others are.
                        self.hello_to(Peer::Site(by), Some(round));
                    }
                }
                Err(_) => self.counters.malformed += 1,
            },
            (Body::StateWanted(wanted), Peer::Site(site)) => self.state_wanted(site, wanted),
            (Body::State(part), Peer::Site(site)) => self.state(site, part, now),
            (Body::Ended(ended), Peer::Site(site)) => self.ended_elsewhere(site, ended.told),
            (
                Body::Report(_)
                | Body::Chunk(_)
                | Body::Ask(_)
                | Body::StateWanted(_)
                | Body::State(_)
                | Body::Ended(_),
                _,
            ) => {
                self.counters.strangers += 1;
            }
        }
        self.go_on(now);
    }

    /// What this site is sending to who asks need not be sent twice: on a slow link answers would queue up
    /// faster than they leave.
    fn leave_out_what_is_under_way(&self, ask: &mut Ask) {
        if ask.to != self.setup.me {
            return;
        }
        let sending = self
            .sending
            .values()
            .map(|sent| &sent.parcel)
            .chain(self.held_back.iter().map(|(_, parcel)| parcel));
        let to_them = sending
            .filter(|parcel| (parcel.from, parcel.to, parcel.round) == (self.setup.me, ask.from, ask.round));
        let under_way: BTreeSet<ChunkNo> = to_them.map(|parcel| parcel.chunk).collect();
        ask.chunks.retain(|chunk| !under_way.contains(chunk));
    }

    fn hello(&mut self, site: SiteNo, hello: &Hello, now: Duration) {
        if hello.job != self.setup.job || !self.setup.my_neighbours().contains(&site) {
            return self.other_job(site);
        }
        let Hello { round, version, is_finished, .. } = *hello;
        self.heard.insert(site, Heard { round, version, is_finished });
        self.ask_who_is_ahead(site, hello, now);
    }

    /// Whether the values are those of the chunk. Chunks for others are looked at where they are going.
    fn is_whole(&self, parcel: &Parcel<ChunkSum>) -> bool {
        if parcel.to != self.setup.me {
            return true;
        }
        let Some(&values) = self.setup.chunk_values.get(parcel.chunk.0 as usize) else { return false };
        match parcel.round {
            0 => parcel.data == ChunkSum::empty(),
            _ => parcel.data.is_of(values),
        }
    }

    fn offer(&mut self, offer: PolicyMessage, now: Duration) {
        let Ok(policy) = policy(offer) else {
            self.counters.malformed += 1;
            return;
        };
        let fits = policy.chunks() == self.setup.chunk_values.len() && policy.sites == self.setup.sites;
        let offered = policy.version;
        if !fits || self.site.offer(Arc::new(policy)).is_err() {
            self.counters.refused_offers += 1;
            return;
        }
        self.has_offer = true;
        if let Phase::Lacks { version, gradient } = &mut self.phase
            && *version == offered
        {
            let gradient = Some(std::mem::take(gradient));
            if let Err(error) = self.begin_next(gradient, now) {
                self.give_up(error);
            }
        }
    }

    fn policy_wanted(&mut self, by: Peer, version: u64) {
        let in_force = Some(self.site.policy()).filter(|policy| policy.version == version);
        let held = in_force.cloned().or_else(|| self.site.offered(version));
        match held {
            Some(policy) => {
                self.send(by, Body::Offer(policy_message(&policy)), i32::MAX);
            }
            // It learns where others are.
            None => self.say_hello(by),
        }
    }
}
