//! What leaves a peer, and what becomes of it.

use bytes::Bytes;
use inart_connections::{Machine as _, PeerNo};
use inart_wire::{Frame, HeaderRepr, Kind};

use super::{Event, Parcel, To, World, address};
use crate::error::SimulationError;
use crate::setup::MESSAGE_FRAME;

/// What a short message on a connection has around it: QUIC, UDP, IP and Ethernet.
const HEADER_BYTES: usize = 80;
/// QUIC takes a packet for lost after that many round-trip times (RFC 9002, section 6.1.2), and a millisecond
/// at least.
const LOST_AFTER: f64 = 9.0 / 8.0;
const LEAST_NS: u64 = 1_000_000;

/// Chunks leave after messages.
const URGENT: i32 = i32::MAX;
/// The sequence of a frame of kind update that is a notice (docs/protocol.md, "Multicast").
const NOTICE: u32 = u32::MAX;

impl World {
    /// A message leaves on a connection.
    pub(super) fn send(&mut self, at: usize, to: usize, id: u64, bytes: Bytes, priority: i32) {
        let is_chunk = priority != URGENT;
        let bits = match is_chunk {
            true => self.setting.chunk_bits(),
            false => 8.0 * (bytes.len() + HEADER_BYTES) as f64,
        };
        self.leave(at, To::One(to), Parcel { bytes, bits, is_chunk, id });
    }

    /// A frame leaves, for a block of receivers or for one: as switches read its header.
    pub(super) fn copy(&mut self, at: usize, bytes: Bytes) {
        let frame = Frame::new_checked(&bytes[..]).expect("peers write whole frames");
        let header = HeaderRepr::parse(&frame).expect("peers write headers");
        let destination = frame.destination();
        let to = match (0..self.setting.ranks.len()).find(|&rank| address(rank) == destination) {
            Some(rank) => To::One(rank),
            None => To::Block(header.contributors),
        };
        let is_chunk = header.kind == Kind::Update && header.sequence.get() != NOTICE;
        let bits = match is_chunk {
            true => self.setting.chunk_bits(),
            false => 8.0 * MESSAGE_FRAME.frame_bytes() as f64,
        };
        self.leave(at, to, Parcel { bytes, bits, is_chunk, id: 0 });
    }

    /// Something leaves its sender.
    pub(super) fn leave(&mut self, from: usize, to: To, parcel: Parcel) {
        let (at_ns, passes) = match parcel.is_chunk {
            true => self.fabric.chunk_up(from, self.now_ns, parcel.bits),
            false => self.fabric.message_up(from, self.now_ns, parcel.bits),
        };
        if passes {
            self.under_way += usize::from(parcel.is_chunk);
            self.events.at(at_ns, Event::Switch { from, to, parcel });
        } else if let To::One(to) = to {
            self.lost(from, to, at_ns, &parcel);
        }
    }

    /// It is at its sender's switch.
    pub(super) fn forward(&mut self, from: usize, to: To, parcel: &Parcel) {
        let is_chunk = usize::from(parcel.is_chunk);
        self.under_way -= is_chunk;
        for to in to.all() {
            let (at_ns, passes) = match parcel.is_chunk {
                true => {
                    let may_overflow = self.setting.by_switch;
                    self.fabric.chunk_down([from, to], self.now_ns, parcel.bits, may_overflow)
                }
                false => self.fabric.message_down([from, to], self.now_ns, parcel.bits),
            };
            if passes {
                self.under_way += is_chunk;
                self.events.at(at_ns, Event::Here { from, to, parcel: parcel.clone() });
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
        self.events.at(at_ns.saturating_add(after_ns), event);
    }

    /// It is at its receiver.
    pub(super) fn arrive(&mut self, from: usize, to: usize, parcel: &Parcel) -> Result<(), SimulationError> {
        if self.setting.by_switch {
            self.under_way -= usize::from(parcel.is_chunk);
            return self.with(to, |peer, now| peer.frame(&parcel.bytes, now));
        }
        let sender = PeerNo(from as u32);
        self.with(to, |peer, now| peer.received(sender, &parcel.bytes, None, now))?;
        if parcel.is_chunk {
            self.under_way -= 1;
            self.after(self.fabric.delay_ns(from, to), Event::Taken { from, id: parcel.id });
        }
        Ok(())
    }
}
