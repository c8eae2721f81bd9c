//! Membership: signs of life of other peers, and own notices.

use std::time::Duration;

use inart_protocol_peers::Receivers;
use inart_wire::{Incarnation, Rank};

use super::{Output, Peer, Phase};
use crate::notice::Notice;

impl Peer {
    pub(super) fn remove_failed(&mut self, now: Duration) {
        for rank in self.liveness.expire(now) {
            self.counters.gone += 1;
            self.remove_peer(rank, now);
        }
    }

    /// Handles the end of a peer's connection. Without a sign of life soon, the peer counts as failed.
    pub fn broken(&mut self, rank: Rank, now: Duration) {
        if rank.index() < self.setup.peers() {
            self.liveness.suspect(rank, now);
        }
    }

    /// Stops waiting for a peer.
    pub(super) fn remove_peer(&mut self, rank: Rank, now: Duration) {
        self.gate.leave(rank.index());
        self.sender.peer_failed(rank, now);
        self.receiver.peer_failed(rank);
    }

    /// Adds a peer that has ended `ended` rounds.
    pub(super) fn add_peer(&mut self, rank: Rank, ended: u32, now: Duration) {
        self.gate.join(rank.index(), ended.into());
        self.receiver.peer_returned(rank, ended.saturating_add(1));
        self.liveness.join(rank, now);
    }

    /// Sends this peer's progress to all others when due.
    pub(super) fn notify_if_due(&mut self, now: Duration) {
        if matches!(self.phase, Phase::Meeting | Phase::Outside) || !self.liveness.is_due(now) {
            return;
        }
        let others = (0..self.setup.peers()).filter_map(|at| Rank::try_from(at).ok());
        let is_there =
            |rank: &Rank| *rank != self.setup.me && self.members.incarnation(*rank) != Incarnation::UNKNOWN;
        let to: Receivers = others.filter(is_there).collect();
        if !to.is_empty() {
            let notice = Notice { ended: self.ended, is_finished: self.ended >= self.setup.rounds };
            self.outputs.push_back(Output::Notify { to, notice });
        }
    }
}
