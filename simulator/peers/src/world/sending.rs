//! What leaves a peer, and what becomes of it.

use inart_multicast::{Message, Receivers, Transmission, chunk_packet, message_packet, notice_packet};
use inart_peer_agent::Notice;
use inart_wire::{MacAddr, Rank};

use super::{Event, Parcel, To, World};
use crate::error::SimulationError;
use crate::setup::{FRAME, MESSAGE_FRAME};

/// What a short message on a connection has around it: QUIC, UDP, IP and Ethernet.
const HEADER_BYTES: usize = 80;
/// QUIC takes a packet for lost after that many round-trip times (RFC 9002, section 6.1.2), and a millisecond
/// at least.
const LOST_AFTER: f64 = 9.0 / 8.0;
const LEAST_NS: u64 = 1_000_000;

impl World {
    /// Chunks leave once per block of receivers as frames, or once for one receiver on a connection.
    pub(super) fn transmit(&mut self, at: usize, sent: &Transmission) {
        let (words, cut) = self.hosts[at].peer.update();
        let (bits, chunk) = (self.setting.chunk_bits(), Some((sent.round, sent.chunk)));
        if self.setting.by_switch {
            for block in sent.to.blocks() {
                let mut buffer = vec![0; FRAME.frame_bytes()];
                let members = self.hosts[at].peer.members();
                let written = self.writer.chunk(members, sent, block, &words, cut, &mut buffer);
                written.expect("a chunk's words fit a frame");
                self.leave(at, To::Block(block), Parcel { bytes: buffer.into(), bits, chunk });
            }
            return;
        }
        let values = words.get(cut.range(sent.chunk)).unwrap_or_default();
        let bytes = chunk_packet(self.hosts[at].peer.members(), sent.round, sent.chunk, values);
        for to in sent.to.iter() {
            self.leave(at, To::One(to.index()), Parcel { bytes: bytes.clone().into(), bits, chunk });
        }
    }

    pub(super) fn send_message(&mut self, at: usize, to: Rank, message: &Message) {
        let members = self.hosts[at].peer.members();
        let bytes = if self.setting.by_switch {
            let mut buffer = vec![0; FRAME.frame_bytes()];
            let written = self.writer.message(members, to, MacAddr([2; 6]), message, &mut buffer);
            written.expect("receivers ask in messages that fit a frame");
            buffer
        } else {
            message_packet(members, to, message)
        };
        self.send_short(at, To::One(to.index()), bytes);
    }

    pub(super) fn notify(&mut self, at: usize, to: &Receivers, notice: Notice) {
        if self.setting.by_switch {
            for block in to.blocks() {
                let mut buffer = vec![0; FRAME.frame_bytes()];
                let members = self.hosts[at].peer.members();
                let written = self.writer.notice(members, block, &notice.words(), &mut buffer);
                written.expect("a notice fits a frame");
                self.send_short(at, To::Block(block), buffer);
            }
            return;
        }
        let bytes = notice_packet(self.hosts[at].peer.members(), &notice.words());
        to.iter().for_each(|to| self.send_short(at, To::One(to.index()), bytes.clone()));
    }

    fn send_short(&mut self, at: usize, to: To, bytes: Vec<u8>) {
        let wire_bytes = match self.setting.by_switch {
            true => MESSAGE_FRAME.frame_bytes(),
            false => bytes.len() + HEADER_BYTES,
        };
        self.leave(at, to, Parcel { bytes: bytes.into(), bits: 8.0 * wire_bytes as f64, chunk: None });
    }

    /// Something leaves its sender.
    pub(super) fn leave(&mut self, from: usize, to: To, parcel: Parcel) {
        let (at_ns, passes) = match parcel.chunk {
            Some(_) => self.fabric.chunk_up(from, self.now_ns, parcel.bits),
            None => self.fabric.message_up(from, self.now_ns, parcel.bits),
        };
        if passes {
            self.under_way += usize::from(parcel.chunk.is_some());
            self.events.push(at_ns, Event::Switch { from, to, parcel });
        } else if let To::One(to) = to {
            self.lost(from, to, at_ns, &parcel);
        }
    }

    /// It is at its sender's switch.
    pub(super) fn forward(&mut self, from: usize, to: To, parcel: &Parcel) {
        let is_chunk = usize::from(parcel.chunk.is_some());
        self.under_way -= is_chunk;
        for to in to.all() {
            let (at_ns, passes) = match parcel.chunk {
                Some(_) => {
                    let may_overflow = self.setting.by_switch;
                    self.fabric.chunk_down([from, to], self.now_ns, parcel.bits, may_overflow)
                }
                None => self.fabric.message_down([from, to], self.now_ns, parcel.bits),
            };
            if passes {
                self.under_way += is_chunk;
                self.events.push(at_ns, Event::Here { from, to, parcel: parcel.clone() });
            } else {
                self.lost(from, to, at_ns, parcel);
            }
        }
    }

    /// A connection sends again what it has lost; a frame is lost.
    fn lost(&mut self, from: usize, to: usize, at_ns: u64, parcel: &Parcel) {
        if self.setting.by_switch {
            return;
        }
        let round_trip_ns = self.fabric.delay_ns(from, to).saturating_mul(2);
        let after_ns = ((round_trip_ns as f64 * LOST_AFTER) as u64).max(LEAST_NS);
        let event = Event::Again { from, to, parcel: parcel.clone() };
        self.events.push(at_ns.saturating_add(after_ns), event);
    }

    /// It is at its receiver.
    pub(super) fn arrive(&mut self, from: usize, to: usize, parcel: &Parcel) -> Result<(), SimulationError> {
        if self.setting.by_switch {
            self.under_way -= usize::from(parcel.chunk.is_some());
            return self.with(to, |peer, now| peer.frame(&parcel.bytes, now));
        }
        let rank = self.setting.ranks[from];
        self.with(to, |peer, now| peer.packet(rank, &parcel.bytes, now))?;
        if let Some((round, _)) = parcel.chunk {
            self.under_way -= 1;
            self.after(self.fabric.delay_ns(from, to), Event::Taken { from, to, round });
        }
        Ok(())
    }
}
