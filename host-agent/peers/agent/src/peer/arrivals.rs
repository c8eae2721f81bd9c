//! Handles arrivals: frames and packets of peers, messages of the coordinator.

use std::time::Duration;

use bytes::Bytes;
use inart_protocol_peers::{Copies, FrameContent, Message, PacketContent, read_frame, read_packet};
use inart_terms::one_line;
use inart_wire::{Incarnation, Rank};

use super::{Peer, Phase};
use crate::message::{Body, Roster, decode};
use crate::notice::Notice;

impl Peer {
    /// Takes a frame.
    pub fn frame(&mut self, bytes: &[u8], now: Duration) {
        match read_frame(&mut self.members, bytes) {
            Some(FrameContent::Chunk { from, round, chunk, is_marked, words }) => {
                self.liveness.observe(from, now);
                self.meter.arrived(self.frame_bytes(bytes.len()), is_marked, now);
                self.receiver.frame(from, round, chunk, words, now);
            }
            Some(FrameContent::Message { from, message }) => self.message(from, &message, now),
            Some(FrameContent::Notice { from, words }) => self.notice(from, words, now),
            None => {}
        }
        self.proceed(now);
    }

    /// Takes a packet on the connection of a peer.
    pub fn packet(&mut self, connected: Rank, bytes: &[u8], now: Duration) {
        match read_packet(&mut self.members, connected, bytes) {
            // Rounds beyond the last one do not exist.
            Some(PacketContent::Chunk { round, .. }) if round > self.setup.rounds => self.counters.ahead += 1,
            Some(PacketContent::Chunk { from, round, chunk, words }) => {
                self.liveness.observe(from, now);
                self.receiver.chunk(from, round, chunk, words, now);
            }
            Some(PacketContent::Message { from, message }) => self.message(from, &message, now),
            Some(PacketContent::Notice { from, words }) => self.notice(from, words, now),
            None => {}
        }
        self.proceed(now);
    }

    /// Returns the length of a frame on the wire by the setup: in virtual time a frame stands for more bytes.
    fn frame_bytes(&self, length: usize) -> usize {
        match self.setup.sender.copies {
            Copies::Switch { frame_bytes } => frame_bytes,
            Copies::Sender { .. } => length,
        }
    }

    fn message(&mut self, from: Rank, message: &Message, now: Duration) {
        if message.round() > self.setup.rounds {
            self.counters.ahead += 1;
            return;
        }
        self.liveness.observe(from, now);
        match message.is_senders() {
            true => self.receiver.message(from, message, now),
            false => self.sender.message(from, message, now),
        }
    }

    fn notice(&mut self, from: Rank, words: impl Iterator<Item = u32>, now: Duration) {
        // Rounds beyond the last one do not exist.
        let notice = Notice::parse(words).filter(|notice| notice.ended <= self.setup.rounds);
        let Some(notice) = notice else {
            self.counters.unknown_notices += 1;
            return;
        };
        if self.liveness.is_gone(from) {
            self.counters.back += 1;
            self.add_peer(from, notice.ended, now);
        }
        self.liveness.observe(from, now);
        self.gate.reach(from.index(), notice.ended.into());
    }

    /// Takes a message of a coordinator.
    pub fn coordinator(&mut self, bytes: Bytes, now: Duration) {
        match decode(bytes) {
            Ok(Body::Choice(choice)) => self.chosen(choice, now),
            Ok(Body::Roster(roster)) if roster.incarnations.len() == self.setup.peers() => {
                self.roster(&roster, now)
            }
            Ok(Body::OtherJob(other)) => self.other_job(one_line(&other.why)),
            _ => self.counters.malformed += 1,
        }
        self.proceed(now);
    }

    /// Takes the members from the coordinator.
    fn roster(&mut self, roster: &Roster, now: Duration) {
        if roster.ended.iter().any(|&ended| ended > self.setup.rounds) {
            self.counters.malformed += 1;
            return;
        }
        if !self.follows(roster.term) {
            return;
        }
        let ended = |at: usize| roster.ended.get(at).copied().unwrap_or(0);
        for (at, &incarnation) in roster.incarnations.iter().enumerate() {
            let Ok(rank) = Rank::try_from(at) else { continue };
            let incarnation = Incarnation::new(incarnation);
            // Other peers may know a peer before the coordinator does.
            let is_news = rank != self.setup.me && incarnation != Incarnation::UNKNOWN;
            if !is_news || !self.members.set_incarnation(rank, incarnation) {
                continue;
            }
            // The previous incarnation of that rank has ended.
            self.remove_peer(rank, now);
            self.add_peer(rank, ended(at), now);
        }
        if self.phase == Phase::Meeting
            && roster.incarnations[self.setup.me.index()] == self.setup.incarnation.get()
        {
            let absent = (0..self.setup.peers()).filter_map(|at| Rank::try_from(at).ok());
            let absent = absent.filter(|&rank| self.members.incarnation(rank) == Incarnation::UNKNOWN);
            absent.for_each(|rank| self.gate.leave(rank.index()));
            self.ended = ended(self.setup.me.index());
            self.gate.join(self.setup.me.index(), self.ended.into());
            self.enter(now);
        }
    }
}
