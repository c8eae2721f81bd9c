//! Links between peers: ports that chunks share, switches that copy frames, and connections that retransmit
//! losses. Peers and their coordinator have links of their own.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::PeerNo;
use inart_protocol_peers::Receivers;
use inart_wire::{Contributors, Frame, HeaderRepr, Kind, MacAddr};
use inart_world::{Later, LinkEvent, Links, Transfer};

use crate::fabric::Fabric;
use crate::setup::{MESSAGE_FRAME, Setting};

/// Delay between a peer and its coordinator.
const WORD: Duration = Duration::from_micros(500);
/// Bytes around a short message on a connection: QUIC, UDP, IP and Ethernet.
const HEADER_BYTES: usize = 80;
/// Round-trip times after which QUIC takes a packet for lost (RFC 9002, section 6.1.2), with a millisecond as
/// the minimum.
const LOST_AFTER: f64 = 9.0 / 8.0;
const LEAST_NS: u64 = 1_000_000;
/// Chunks leave after messages.
const URGENT: i32 = i32::MAX;
/// Sequence of a frame of kind update that is a notice (docs/protocol/peers.md, "Multicast").
const NOTICE: u32 = u32::MAX;

/// Returns the Ethernet address of a peer.
pub(crate) fn address(rank: usize) -> MacAddr {
    let [.., high, low] = (rank as u32).to_be_bytes();
    MacAddr([2, 0, 0, 1, high, low])
}

/// A message on a connection, or a frame.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    transfer: Transfer,
    /// Receivers of a frame that switches copy; `None` for one receiver, the transfer's.
    block: Option<Contributors>,
    /// Bits on the wire.
    bits: f64,
    is_chunk: bool,
}

/// An event on the links.
#[derive(Debug)]
pub(crate) enum Event {
    /// A message that was lost on a connection leaves again.
    Again(Load),
    /// A load has arrived at its sender's switch.
    Switch(Load),
    /// A load has arrived at its receiver.
    Here(Load),
    /// A sender receives the acknowledgement of a chunk.
    Taken(Transfer),
    /// A message from or to the coordinator has arrived at its receiver.
    Word(Transfer),
}

/// All links of a job.
pub(crate) struct PeerLinks {
    fabric: Fabric,
    peers: usize,
    by_switch: bool,
    chunk_bits: f64,
    /// Messages that connections have retransmitted.
    pub again: u64,
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the duration from now to a time in nanoseconds.
fn until(at_ns: u64, now: Duration) -> Duration {
    Duration::from_nanos(at_ns.saturating_sub(nanos(now)))
}

impl PeerLinks {
    pub fn new(fabric: Fabric, setting: &Setting) -> Self {
        let (peers, chunk_bits) = (setting.ranks.len(), setting.chunk_bits());
        PeerLinks { fabric, peers, by_switch: setting.by_switch, chunk_bits, again: 0 }
    }

    /// Returns the frames, or chunks on connections, that were lost, and frames that found a full queue.
    pub fn dropped(&self) -> (u64, u64) {
        (self.fabric.lost, self.fabric.overflowed)
    }

    fn leave(&mut self, load: Load, now: Duration, later: &mut Later<Event>) {
        let from = load.transfer.from.index();
        let (at_ns, passes) = match load.is_chunk {
            true => self.fabric.chunk_up(from, nanos(now), load.bits),
            false => self.fabric.message_up(from, nanos(now), load.bits),
        };
        if passes {
            later.push((until(at_ns, now), Event::Switch(load)));
        } else if load.block.is_none() {
            self.lose(load, at_ns, now, later);
        }
    }

    /// Forwards a load from its sender's switch to each receiver.
    fn forward(&mut self, load: &Load, now: Duration, later: &mut Later<Event>) {
        let from = load.transfer.from.index();
        let receivers = match load.block {
            None => vec![load.transfer.to.index()],
            Some(block) => Receivers::of_block(block).iter().map(|rank| rank.index()).collect(),
        };
        for to in receivers {
            let ends = [from, to];
            let (at_ns, passes) = match load.is_chunk {
                true => self.fabric.chunk_down(ends, nanos(now), load.bits, self.by_switch),
                false => self.fabric.message_down(ends, nanos(now), load.bits),
            };
            let transfer = Transfer { to: PeerNo(to as u32), ..load.transfer.clone() };
            let load = Load { transfer, ..*load };
            match passes {
                true => later.push((until(at_ns, now), Event::Here(load))),
                false => self.lose(load, at_ns, now, later),
            }
        }
    }

    /// Handles a loss: a connection retransmits, a frame is lost.
    fn lose(&mut self, load: Load, at_ns: u64, now: Duration, later: &mut Later<Event>) {
        if self.by_switch {
            return;
        }
        let [from, to] = [load.transfer.from, load.transfer.to].map(PeerNo::index);
        let round_trip_ns = self.fabric.delay_ns(from, to).saturating_mul(2);
        let after_ns = ((round_trip_ns as f64 * LOST_AFTER) as u64).max(LEAST_NS);
        later.push((until(at_ns.saturating_add(after_ns), now), Event::Again(load)));
    }
}

impl Links for PeerLinks {
    type Change = Infallible;
    type Event = Event;

    fn send(&mut self, transfer: Transfer, now: Duration, later: &mut Later<Event>) {
        if self.is_sure(transfer.from, transfer.to) {
            return later.push((WORD, Event::Word(transfer)));
        }
        let is_chunk = transfer.priority != URGENT;
        let bits = match is_chunk {
            true => self.chunk_bits,
            false => 8.0 * (transfer.data.len() + HEADER_BYTES) as f64,
        };
        self.leave(Load { transfer, block: None, bits, is_chunk }, now, later);
    }

    /// Returns whether the coordinator is an end: its messages are not lost.
    fn is_sure(&self, from: PeerNo, to: PeerNo) -> bool {
        from.index().max(to.index()) >= self.peers
    }

    /// Sends a frame for a block of receivers or for one, as switches read its header.
    fn copy(&mut self, from: PeerNo, bytes: Bytes, now: Duration, later: &mut Later<Event>) {
        let frame = Frame::new_checked(&bytes[..]).expect("peers write whole frames");
        let header = HeaderRepr::parse(&frame).expect("peers write headers");
        let destination = frame.destination();
        let to = (0..self.peers).find(|&rank| address(rank) == destination);
        let block = if to.is_some() { None } else { Some(header.contributors) };
        let is_chunk = header.kind == Kind::Update && header.sequence.get() != NOTICE;
        let bits = match is_chunk {
            true => self.chunk_bits,
            false => 8.0 * MESSAGE_FRAME.frame_bytes() as f64,
        };
        let to = to.map_or(from, |to| PeerNo(to as u32));
        let transfer = Transfer { from, to, connection: 0, id: 0, data: bytes, priority: 0 };
        self.leave(Load { transfer, block, bits, is_chunk }, now, later);
    }

    fn answer(&mut self, transfer: &Transfer, _now: Duration, later: &mut Later<Event>) {
        let Transfer { from, to, priority, .. } = *transfer;
        if priority != URGENT && !self.is_sure(from, to) {
            let delay_ns = self.fabric.delay_ns(from.index(), to.index());
            let taken = Transfer { data: Bytes::new(), ..*transfer };
            later.push((Duration::from_nanos(delay_ns), Event::Taken(taken)));
        }
    }

    fn due(&mut self, event: Event, now: Duration, later: &mut Later<Event>) -> Option<LinkEvent> {
        match event {
            Event::Again(load) => {
                self.again += 1;
                self.leave(load, now, later);
                None
            }
            Event::Switch(load) => {
                self.forward(&load, now, later);
                None
            }
            Event::Here(Load { transfer, .. }) if self.by_switch => {
                Some(LinkEvent::Frame { to: transfer.to, frame: transfer.data })
            }
            Event::Here(Load { transfer, .. }) | Event::Word(transfer) => {
                Some(LinkEvent::Arrived { transfer, seen: None })
            }
            Event::Taken(Transfer { from: sender, to: receiver, connection, id, .. }) => {
                Some(LinkEvent::Ended { sender, receiver, connection, id, is_taken: true })
            }
        }
    }

    /// Does nothing: connections stay.
    fn clear(&mut self, _connection: u64, _now: Duration) {}

    fn is_cut(&self, _a: PeerNo, _b: PeerNo) -> bool {
        false
    }

    fn change(&mut self, change: &Infallible, _now: Duration) {
        match *change {}
    }
}
