//! Traffic between peers.

use std::sync::Arc;

use inart_protocol_peers::{Cut, FrameWriter, Receivers, Transmission, chunk_packet};
use inart_wire::{Contributors, MacAddr, Rank, ValuesPerFrame};

use super::{Event, VALUES, World, rank};

pub(super) fn writer() -> FrameWriter {
    FrameWriter::new(
        MacAddr([2, 0, 0, 0, 0, 1]),
        MacAddr([1; 6]),
        ValuesPerFrame::try_from(VALUES as i64).unwrap(),
    )
}

impl World {
    pub(super) fn send_chunk(&mut self, at: usize, sent: &Transmission, words: &[u32], cut: Cut) {
        let host = self.hosts[at].as_ref().unwrap();
        let (incarnation, to) = (host.incarnation, sent.to.iter().next().unwrap().index());
        let bytes = chunk_packet(host.peer.members(), sent.round, sent.chunk, &words[cut.range(sent.chunk)]);
        self.hostile_packets(at, to, sent.round, sent.chunk, &bytes);
        let arrives = self.fabric.carry(at, to, bytes.len(), self.now, &mut self.draws);
        match arrives.filter(|_| self.hosts[to].is_some()) {
            Some(arrives) => {
                let sent = Some((incarnation, sent.round, sent.chunk));
                self.at_ns(arrives, Event::Packet { from: at, to, bytes, sent });
            }
            None => {
                let now = self.now();
                let host = self.hosts[at].as_mut().unwrap();
                host.peer.failed(sent.round, rank(to), sent.chunk, now);
            }
        }
    }

    pub(super) fn send_frame(&mut self, from: usize, block: Contributors, bytes: Vec<u8>) {
        let to = Receivers::of_block(block);
        let ranks: Vec<usize> = to.iter().map(Rank::index).collect();
        let bytes: Arc<[u8]> = bytes.into();
        for (to, arrives) in self.fabric.send(from, ranks.into_iter(), bytes.len(), self.now, &mut self.draws)
        {
            self.at_ns(arrives, Event::Frame { to, bytes: bytes.clone() });
        }
    }

    /// Sends a message or a notice to one peer; it may be lost.
    pub(super) fn send_packet(&mut self, from: usize, to: usize, bytes: Vec<u8>) {
        if let Some(arrives) = self.fabric.carry(from, to, bytes.len(), self.now, &mut self.draws) {
            self.at_ns(arrives, Event::Packet { from, to, bytes, sent: None });
        }
    }
}
