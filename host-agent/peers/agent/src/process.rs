//! A peer with its messages: their numbers, their outcomes, and the peers that know of its end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use inart_connections::{Lane, Machine, Output, PeerNo, Seen};
use inart_protocol_peers::{
    FrameWriter, Message, Outcome, Receivers, Transmission, chunk_packet, message_packet, notice_packet,
};
use inart_wire::{Contributors, Incarnation, MacAddr, Rank, WireError};

use crate::admission_error::AdmissionError;
use crate::average::Received;
use crate::notice::Notice;
use crate::peer::{Output as PeerOutput, Peer, Start, UpdateError};

/// Longest time that a finished peer stays for others that are still connected.
const LONGEST_END: Duration = Duration::from_secs(30);
/// Notices of the end before a peer leaves when it sends frames, which are not acknowledged.
const LAST_NOTICES: u32 = 5;
/// Frames in one piece of memory.
const FRAMES: usize = 64;
/// Messages overtake chunks; chunks of an update leave in order.
const URGENT: i32 = i32::MAX;
/// Most reports that wait for a coordinator; a coordinator that reads none gets the newest ones later.
const MOST_REPORTS: usize = 1024;

/// Report of a peer to its program.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerReport {
    /// Request for an update.
    Compute(Start),
    /// A whole update of another peer.
    Received(Received),
    /// End of the peer's own multicast of a round.
    Ended {
        /// Outcome for each receiver.
        outcome: Outcome,
        /// Whether the previous receivers were used because no choice arrived.
        rounds_with_previous_receivers: bool,
    },
    /// End of the last round.
    Finished(Start),
    /// Permanent exclusion of the peer.
    Rejected(AdmissionError),
    /// Refusal of the program's update.
    Update(UpdateError),
}

/// Message in flight whose end matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    /// Chunk of an update.
    Chunk { round: u32, to: Rank, chunk: u32 },
    /// Notice that this peer has ended its last round.
    LastNotice { to: Rank },
    /// Report to a coordinator.
    Report { to: PeerNo },
}

/// Frames that switches copy.
#[derive(Debug)]
pub struct Framing {
    writer: FrameWriter,
    addresses: Vec<MacAddr>,
    frame_bytes: usize,
    buffer: BytesMut,
    /// Blocks of receivers of the last transmission whose frames are not written yet.
    blocks: VecDeque<(Transmission, Contributors)>,
}

impl Framing {
    /// Creates it from a writer, and the Ethernet addresses of all peers by rank.
    pub fn new(writer: FrameWriter, addresses: Vec<MacAddr>) -> Self {
        let frame_bytes = writer.values_per_frame.frame_bytes();
        Framing { writer, addresses, frame_bytes, buffer: BytesMut::new(), blocks: VecDeque::new() }
    }

    /// Writes a frame. Returns `None` if the content does not fit; chunks and messages of the setup do.
    fn written(
        &mut self,
        write: impl FnOnce(&mut FrameWriter, &mut [u8]) -> Result<usize, WireError>,
    ) -> Option<Bytes> {
        if self.buffer.capacity() < self.frame_bytes {
            self.buffer.reserve(FRAMES * self.frame_bytes);
        }
        self.buffer.resize(self.frame_bytes, 0);
        let length = write(&mut self.writer, &mut self.buffer).ok()?;
        Some(self.buffer.split_to(length).freeze())
    }
}

/// A peer, as a process among others. Numbers of other peers are their ranks; coordinators follow.
#[derive(Debug)]
pub struct PeerProcess {
    peer: Peer,
    me: Rank,
    peers: usize,
    framing: Option<Framing>,
    /// The coordinators with a connection.
    lanes: BTreeMap<PeerNo, Lane>,
    /// The peers with a connection.
    connected: BTreeSet<Rank>,
    next_id: u64,
    sent: BTreeMap<u64, Sent>,
    /// Peers that know that this one has ended its last round.
    notified: BTreeSet<Rank>,
    finished: Option<Duration>,
    last_notices: u32,
    /// Actions for the host, in order.
    ready: VecDeque<Output<PeerReport>>,
    /// Whether nothing follows the ready actions, and whether the host knows.
    is_over: bool,
    has_ended: bool,
}

impl PeerProcess {
    /// Creates a process that reaches other peers by connections.
    pub fn new(peer: Peer, me: Rank, peers: usize) -> Self {
        PeerProcess {
            peer,
            me,
            peers,
            framing: None,
            lanes: BTreeMap::new(),
            connected: BTreeSet::new(),
            next_id: 0,
            sent: BTreeMap::new(),
            notified: BTreeSet::new(),
            finished: None,
            last_notices: 0,
            ready: VecDeque::new(),
            is_over: false,
            has_ended: false,
        }
    }

    /// Sends to other peers by frames that switches copy.
    #[must_use]
    pub fn by_frames(mut self, framing: Framing) -> Self {
        self.framing = Some(framing);
        self
    }

    /// Returns the peer.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns whether another peer is connected.
    pub fn is_connected(&self, rank: Rank) -> bool {
        self.connected.contains(&rank)
    }

    /// Returns whether peers communicate by connections.
    pub fn has_connections(&self) -> bool {
        self.framing.is_none()
    }

    fn rank(&self, number: PeerNo) -> Option<Rank> {
        Rank::try_from(number.index()).ok().filter(|rank| rank.index() < self.peers)
    }

    /// Adds a message with a new number.
    fn send(&mut self, to: PeerNo, what: Option<Sent>, data: Bytes, priority: i32) {
        let id = self.next_id;
        self.next_id += 1;
        self.sent.extend(what.map(|what| (id, what)));
        self.ready.push_back(Output::Send { to, id, data, priority });
    }

    fn take(&mut self, output: PeerOutput, now: Duration) {
        match output {
            PeerOutput::Send { to, message } => self.send_message(to, &message),
            PeerOutput::Notify { to, notice } => self.notify(&to, notice),
            PeerOutput::Report(data) => {
                self.lanes.values_mut().for_each(|lane| lane.push_newest(data.clone()));
            }
            PeerOutput::Received(update) => self.report(PeerReport::Received(update)),
            PeerOutput::Compute(start) => self.report(PeerReport::Compute(start)),
            PeerOutput::Ended { outcome, rounds_with_previous_receivers } => {
                self.report(PeerReport::Ended { outcome, rounds_with_previous_receivers });
            }
            PeerOutput::Finished(start) => {
                self.finished = Some(now);
                self.report(PeerReport::Finished(start));
            }
            PeerOutput::Rejected(error) => self.report(PeerReport::Rejected(error)),
        }
    }

    fn report(&mut self, report: PeerReport) {
        self.is_over |= matches!(report, PeerReport::Rejected(_) | PeerReport::Update(_));
        self.ready.push_back(Output::Report(report));
    }

    fn send_message(&mut self, to: Rank, message: &Message) {
        let members = self.peer.members();
        if let Some(framing) = &mut self.framing {
            let Some(&address) = framing.addresses.get(to.index()) else { return };
            let frame =
                framing.written(|writer, buffer| writer.message(members, to, address, message, buffer));
            return self.ready.extend(frame.map(Output::Copy));
        }
        let data = message_packet(members, to, message);
        self.send(number(to), None, data.into(), URGENT);
    }

    fn notify(&mut self, to: &Receivers, notice: Notice) {
        self.last_notices += u32::from(notice.is_finished);
        let members = self.peer.members();
        if let Some(framing) = &mut self.framing {
            for block in to.blocks() {
                let frame =
                    framing.written(|writer, buffer| writer.notice(members, block, &notice.words(), buffer));
                self.ready.extend(frame.map(Output::Copy));
            }
            return;
        }
        let data = Bytes::from(notice_packet(members, &notice.words()));
        for to in to.iter() {
            let what = notice.is_finished.then_some(Sent::LastNotice { to });
            self.send(number(to), what, data.clone(), URGENT);
        }
    }

    /// Takes the next transmission: by connections a message for each receiver, by frames a block of them.
    fn transmit(&mut self, now: Duration) -> Option<()> {
        if let Some(framing) = &mut self.framing {
            if framing.blocks.is_empty() {
                let sent = self.peer.next_transmission(now)?;
                framing.blocks.extend(sent.to.blocks().map(|block| (sent.clone(), block)));
            }
            let (sent, block) = framing.blocks.pop_front()?;
            let (words, cut) = self.peer.update();
            let members = self.peer.members();
            let frame =
                framing.written(|writer, buffer| writer.chunk(members, &sent, block, &words, cut, buffer));
            self.ready.extend(frame.map(Output::Copy));
            return Some(());
        }
        let sent = self.peer.next_transmission(now)?;
        let (words, cut) = self.peer.update();
        let chunk = words.get(cut.range(sent.chunk)).unwrap_or_default();
        let data = Bytes::from(chunk_packet(self.peer.members(), sent.round, sent.chunk, chunk));
        let priority = -i32::try_from(sent.chunk).unwrap_or(i32::MAX);
        for to in sent.to.iter() {
            let what = Sent::Chunk { round: sent.round, to, chunk: sent.chunk };
            self.send(number(to), Some(what), data.clone(), priority);
        }
        Some(())
    }

    /// Returns the end of the process, once.
    fn over(&mut self) -> Option<Output<PeerReport>> {
        (!std::mem::replace(&mut self.has_ended, true)).then_some(Output::Over)
    }

    fn next_report(&mut self, now: Duration) -> Option<Output<PeerReport>> {
        let id = self.next_id;
        let (to, data) = self.lanes.iter_mut().find_map(|(to, lane)| Some((*to, lane.next(id, now)?)))?;
        self.next_id += 1;
        self.sent.insert(id, Sent::Report { to });
        Some(Output::Send { to, id, data, priority: URGENT })
    }

    /// Returns whether the peer may leave: all that are connected and take part know of its end.
    fn may_leave(&self, now: Duration) -> bool {
        let Some(since) = self.finished else { return false };
        let members = self.peer.members();
        let takes_part =
            |rank: &&Rank| **rank != self.me && members.incarnation(**rank) != Incarnation::UNKNOWN;
        let all_know = match self.framing {
            None => self.connected.iter().filter(takes_part).all(|rank| self.notified.contains(rank)),
            Some(_) => self.last_notices >= LAST_NOTICES,
        };
        self.peer.is_done() && all_know || now >= since + LONGEST_END
    }
}

fn number(rank: Rank) -> PeerNo {
    PeerNo(u32::from(rank.get()))
}

impl Machine for PeerProcess {
    type Command = Vec<f32>;
    type Report = PeerReport;
    type Done = ();

    fn up(&mut self, peer: PeerNo, now: Duration) {
        match self.rank(peer) {
            Some(rank) => drop(self.connected.insert(rank)),
            None => {
                self.lanes.insert(peer, Lane::of(MOST_REPORTS));
                self.peer.coordinator_up(now);
            }
        }
    }

    fn down(&mut self, peer: PeerNo, now: Duration) {
        match self.rank(peer) {
            Some(rank) => {
                self.connected.remove(&rank);
                // The new incarnation may not know of the end.
                self.notified.remove(&rank);
                self.peer.broken(rank, now);
            }
            None => {
                self.lanes.remove(&peer);
                if self.lanes.is_empty() {
                    self.peer.coordinator_down(now);
                }
            }
        }
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, _seen: Option<Seen>, now: Duration) {
        match self.rank(from) {
            Some(rank) => self.peer.packet(rank, data, now),
            None => self.peer.coordinator(data.clone(), now),
        }
    }

    fn frame(&mut self, bytes: &[u8], now: Duration) {
        self.peer.frame(bytes, now);
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        match self.sent.remove(&id) {
            Some(Sent::Chunk { round, to, .. }) if is_taken => self.peer.delivered(round, to, now),
            Some(Sent::Chunk { round, to, chunk }) => self.peer.failed(round, to, chunk, now),
            Some(Sent::LastNotice { to }) if is_taken => drop(self.notified.insert(to)),
            Some(Sent::Report { to }) => {
                if let Some(lane) = self.lanes.get_mut(&to) {
                    lane.ended(id, is_taken, now);
                }
            }
            Some(Sent::LastNotice { .. }) | None => {}
        }
    }

    fn command(&mut self, update: Vec<f32>, now: Duration) {
        if let Err(error) = self.peer.computed(update, now) {
            self.report(PeerReport::Update(error));
        }
    }

    /// Other peers detect the end of the connections.
    fn stop(&mut self, _why: &str, _now: Duration) {
        self.ready.clear();
        self.is_over = true;
    }

    fn tick(&mut self, now: Duration) {
        self.peer.tick(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        let lanes = self.lanes.values().filter_map(Lane::wake_at);
        let leaves = self.finished.map(|since| since + LONGEST_END).filter(|_| !self.has_ended);
        lanes.chain(self.peer.wake_at()).chain(leaves).min()
    }

    fn next(&mut self, now: Duration) -> Option<Output<PeerReport>> {
        loop {
            if let Some(output) = self.ready.pop_front() {
                return Some(output);
            }
            if self.is_over {
                return self.over();
            }
            if let Some(output) = self.peer.next_output() {
                self.take(output, now);
            } else if let Some(report) = self.next_report(now) {
                return Some(report);
            } else if self.transmit(now).is_none() {
                break;
            }
        }
        if self.may_leave(now) { self.over() } else { None }
    }

    fn may_end(&self, _peer: PeerNo) -> bool {
        self.finished.is_some()
    }
}
