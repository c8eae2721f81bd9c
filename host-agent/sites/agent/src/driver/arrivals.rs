//! Handling of received messages.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use inart_protocol_sites::{Ask, ChunkNo, Parcel, SiteNo, Way};

use crate::gradient::ChunkSum;
use crate::message::{self, AskMessage, Body, ChunkMessage};

use super::identity::Named;
use super::phase::Passing;
use super::{Driver, Peer, Phase};

impl Driver {
    /// Handles a message from a peer.
    pub fn message(&mut self, from: Peer, data: Bytes, now: Duration) {
        if let Peer::Site(site) = from
            && !self.setup.my_neighbours().contains(&site)
        {
            self.counters.unknown_senders += 1;
            return;
        }
        let Ok(body) = message::decode(data) else {
            self.counters.malformed += 1;
            return;
        };
        match (body, from) {
            (Body::Hello(hello), Peer::Site(site)) => self.hello(site, hello, now),
            (Body::Hello(hello), Peer::Scheduler) => self.scheduler_hello(hello, now),
            (Body::Offer(offer), _) => self.offer(from, offer, now),
            (Body::PolicyWanted(wanted), _) => self.policy_wanted(from, wanted.version),
            (Body::Chunk(chunk), Peer::Site(site)) => self.chunk(site, chunk, now),
            (Body::Ask(ask), Peer::Site(site)) => self.question(site, ask, now),
            (Body::StateWanted(wanted), Peer::Site(site)) => self.state_wanted(site, wanted),
            (Body::State(part), Peer::Site(site)) => self.state(site, part, now),
            (Body::Ended(ended), Peer::Site(site)) => self.ended_elsewhere(site, ended),
            (
                Body::Report(_)
                | Body::Chunk(_)
                | Body::Ask(_)
                | Body::StateWanted(_)
                | Body::State(_)
                | Body::Ended(_),
                _,
            ) => {
                self.counters.unknown_senders += 1;
            }
        }
        self.go_on(now);
    }

    fn chunk(&mut self, by: SiteNo, chunk: ChunkMessage, now: Duration) {
        let parcel = match message::parcel(chunk) {
            Ok(parcel) if parcel.to != self.setup.me || self.is_whole(&parcel) => parcel,
            _ => {
                self.counters.malformed += 1;
                return;
            }
        };
        let Parcel { from, to, ref route, .. } = parcel;
        let is_used = to != self.setup.me || self.may_be_used(&parcel);
        if is_used && !self.is_sender("a chunk", Named { by, from, to, route }, now) {
            return;
        }
        if to != self.setup.me && !self.may_pass(&parcel) {
            return;
        }
        if to == self.setup.me && parcel.way == Way::Answer && !self.asked.contains(&from) {
            self.counters.unasked += 1;
            return;
        }
        let is_of_round = to == self.setup.me && Some(parcel.round) == self.site.round();
        if is_of_round {
            (self.heard_at, self.attempt) = (now, 0);
        }
        let dropped = self.site.counters().dropped();
        let next = parcel.route.first().copied().filter(|_| to != self.setup.me);
        let Some(Passing::Chunk(parcel)) = self.keep_for_link(next, Passing::Chunk(parcel)) else { return };
        self.site.receive(parcel);
        if is_of_round && self.site.counters().dropped() == dropped {
            self.progress(now);
        }
    }

    /// Whether a chunk for this site belongs to the current round and its plan, or to the next round. Other
    /// chunks are dropped and counted by kind.
    fn may_be_used(&self, parcel: &Parcel<ChunkSum>) -> bool {
        let next = self.site.round().map_or(0, |round| round.saturating_add(1));
        let is_current = Some(parcel.round) == self.site.round();
        is_current && parcel.version == self.site.policy_version() || parcel.round == next
    }

    fn question(&mut self, by: SiteNo, ask: AskMessage, now: Duration) {
        let Ok(mut ask) = message::ask(ask) else {
            self.counters.malformed += 1;
            return;
        };
        let Ask { from, to, ref route, .. } = ask;
        // A request for another round has no answer.
        let is_of_mine = self.site.round().is_some_and(|round| round.abs_diff(ask.round) <= 1);
        let is_used = to != self.setup.me || is_of_mine;
        if is_used && !self.is_sender("a question", Named { by, from, to, route }, now) {
            return;
        }
        // Each chunk is answered once.
        ask.chunks.sort_unstable();
        ask.chunks.dedup();
        self.leave_out_what_is_under_way(&mut ask);
        let (before, round) = (self.site.counters().unanswerable, ask.round);
        // A site that loaded another site's final state has no sums of its last round.
        let has_no_sums =
            to == self.setup.me && matches!(self.phase, Phase::Finished { .. }) && !self.site.is_complete();
        let next = ask.route.first().copied().filter(|_| to != self.setup.me);
        let Some(Passing::Question(ask)) = self.keep_for_link(next, Passing::Question(ask)) else { return };
        self.site.asked(ask);
        if (has_no_sums || self.site.counters().unanswerable > before) && from == by {
            // The asking site may be too far behind, so it learns the rounds of other sites.
            self.hello_to(Peer::Site(by), Some(round));
        }
    }

    /// Removes chunks that this site is already sending to the asking site. Otherwise answers would queue up
    /// on a slow link faster than they leave.
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

    /// Whether a chunk for another site is complete and the link has room for it; counts a dropped chunk. The
    /// destination requests dropped chunks.
    fn may_pass(&mut self, parcel: &Parcel<ChunkSum>) -> bool {
        if !self.is_whole(parcel) {
            self.counters.malformed += 1;
            return false;
        }
        let most = self.setup.most_on_link();
        let has_room = parcel.route.first().is_none_or(|&next| self.site.load(next) < most);
        self.counters.crowded += u64::from(!has_room);
        has_room
    }

    /// Whether the values fit the chunk and the route does not exceed the longest route.
    fn is_whole(&self, parcel: &Parcel<ChunkSum>) -> bool {
        if parcel.route.len() > self.longest_route() {
            return false;
        }
        let Some(&values) = self.setup.chunk_values.get(parcel.chunk.0 as usize) else { return false };
        match parcel.round {
            0 => parcel.data == ChunkSum::empty(),
            _ => parcel.data.is_of(values),
        }
    }
}
