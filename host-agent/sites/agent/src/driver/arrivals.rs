//! Handling of received messages.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use inart_protocol_sites::{Ask, ChunkNo, ChunkTransfer, Direction, SiteNo};

use crate::gradient::ChunkSum;
use crate::message::{self, AskMessage, Body, ChunkMessage};

use super::identity::Named;
use super::phase::Passing;
use super::{Driver, Peer, Phase};

impl Driver {
    /// Handles a message from a peer.
    pub fn message(&mut self, from: Peer, data: Bytes, now: Duration) {
        if let Peer::Site(site) = from
            && !self.setup.my_neighbors().contains(&site)
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
        let transfer = match message::transfer(chunk) {
            Ok(transfer) if transfer.to != self.setup.me || self.is_whole(&transfer) => transfer,
            _ => {
                self.counters.malformed += 1;
                return;
            }
        };
        let ChunkTransfer { from, to, ref route, .. } = transfer;
        let is_used = to != self.setup.me || self.may_be_used(&transfer);
        if is_used && !self.is_sender("a chunk", Named { by, from, to, route }, now) {
            return;
        }
        if to != self.setup.me && !self.may_pass(&transfer) {
            return;
        }
        if to == self.setup.me && transfer.direction == Direction::Answer && !self.asked.contains(&from) {
            self.counters.unasked += 1;
            return;
        }
        let is_of_round = to == self.setup.me && Some(transfer.round) == self.site.round();
        if is_of_round {
            (self.heard_at, self.attempt) = (now, 0);
        }
        let dropped = self.site.counters().dropped();
        let next = transfer.route.first().copied().filter(|_| to != self.setup.me);
        let Some(Passing::Chunk(transfer)) = self.keep_for_link(next, Passing::Chunk(transfer)) else {
            return;
        };
        self.site.receive(transfer);
        if is_of_round && self.site.counters().dropped() == dropped {
            self.progress(now);
        }
    }

    /// Whether a chunk for this site belongs to the current round and its plan, or to the next round. Other
    /// chunks are dropped and counted by kind.
    fn may_be_used(&self, transfer: &ChunkTransfer<ChunkSum>) -> bool {
        let next = self.site.round().map_or(0, |round| round.saturating_add(1));
        let is_current = Some(transfer.round) == self.site.round();
        is_current && transfer.version == self.site.policy_version() || transfer.round == next
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
        self.leave_out_chunks_in_flight(&mut ask);
        let (before, round) = (self.site.counters().unanswerable, ask.round);
        // A site that loaded another site's final state has no sums of its last round.
        let has_no_sums =
            to == self.setup.me && matches!(self.phase, Phase::Finished { .. }) && !self.site.is_complete();
        let next = ask.route.first().copied().filter(|_| to != self.setup.me);
        let Some(Passing::Request(ask)) = self.keep_for_link(next, Passing::Request(ask)) else { return };
        self.site.asked(ask);
        if (has_no_sums || self.site.counters().unanswerable > before) && from == by {
            // The asking site may be too far behind, so it learns the rounds of other sites.
            self.hello_to(Peer::Site(by), Some(round));
        }
    }

    /// Removes chunks that this site is already sending to the asking site. Otherwise answers would queue up
    /// on a slow link faster than they leave.
    fn leave_out_chunks_in_flight(&self, ask: &mut Ask) {
        if ask.to != self.setup.me {
            return;
        }
        let sending = self
            .sending
            .values()
            .map(|sent| &sent.transfer)
            .chain(self.held_back.iter().map(|(_, transfer)| transfer));
        let to_them = sending.filter(|transfer| {
            (transfer.from, transfer.to, transfer.round) == (self.setup.me, ask.from, ask.round)
        });
        let under_way: BTreeSet<ChunkNo> = to_them.map(|transfer| transfer.chunk).collect();
        ask.chunks.retain(|chunk| !under_way.contains(chunk));
    }

    /// Whether a chunk for another site is complete and the link has room for it; counts a dropped chunk. The
    /// destination requests dropped chunks.
    fn may_pass(&mut self, transfer: &ChunkTransfer<ChunkSum>) -> bool {
        if !self.is_whole(transfer) {
            self.counters.malformed += 1;
            return false;
        }
        let most = self.setup.most_on_link();
        let has_room = transfer.route.first().is_none_or(|&next| self.site.load(next) < most);
        self.counters.crowded += u64::from(!has_room);
        has_room
    }

    /// Whether the values fit the chunk and the route does not exceed the longest route.
    fn is_whole(&self, transfer: &ChunkTransfer<ChunkSum>) -> bool {
        if transfer.route.len() > self.longest_route() {
            return false;
        }
        let Some(&values) = self.setup.chunk_values.get(transfer.chunk.0 as usize) else { return false };
        match transfer.round {
            0 => transfer.data == ChunkSum::empty(),
            _ => transfer.data.is_of(values),
        }
    }
}
