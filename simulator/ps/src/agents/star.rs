//! The links of a parameter server's job: each participant's own, and the server's; the network between them
//! is nonblocking.
//!
//! Chunks of each direction share the server's port as flows of `inart_virtual::Port`, one chunk of each
//! participant at a time. Messages, which overtake chunks, are short: they take the delay and no capacity.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use inart_connections::{PeerNo, Seen};
use inart_virtual::{FlowId, Port, SplitMix64, Timeline};
use inart_world::{Later, LinkEvent, Links, Transfer};

use super::access_links::{AccessLink, Change, Endpoint};
use super::machine::SERVER;

/// Round-trip times after which a connection counts a message as lost (RFC 9002, section 6.1.2), with a
/// minimum.
const LOST_AFTER: f64 = 9.0 / 8.0;
const LEAST: Duration = Duration::from_millis(1);

/// A leaving transfer: one chunk at a time per participant and direction.
struct Leaving {
    transfer: Transfer,
    bits: f64,
    began: Duration,
    /// `None` while nothing passes.
    flow: Option<FlowId>,
}

/// One direction of a participant's link.
#[derive(Default)]
struct Queue {
    /// By priority, then in the order given.
    waiting: BTreeMap<(Reverse<i32>, u64), Transfer>,
    leaving: Option<Leaving>,
}

/// Links around one server.
pub struct Star {
    /// By participant, both directions: to the server, and back.
    queues: Vec<[Queue; 2]>,
    /// Links by participant, and of the server.
    access_links: Vec<AccessLink>,
    server: AccessLink,
    /// Port into the server, and out of it.
    ports: [Port<usize>; 2],
    arrivals: Timeline<LinkEvent>,
    /// By participant: events that wait for the link to recover.
    stopped: Vec<Vec<LinkEvent>>,
    bits_per_byte: f64,
    given: u64,
    draws: SplitMix64,
    /// Messages and answers that were lost.
    pub lost: u64,
}

/// Converts seconds to a machine's time, rounded up to the next nanosecond.
fn time(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).ceil() as u64)
}

impl Star {
    /// Creates idle links of participants and of the server. `bits_per_byte`: bits on the wire per byte of a
    /// chunk's packet.
    pub fn new(
        access_links: Vec<AccessLink>,
        server: AccessLink,
        bits_per_byte: f64,
        draws: SplitMix64,
    ) -> Self {
        let [into, out] = [server.bps(0), server.bps(1)];
        Star {
            queues: access_links.iter().map(|_| Default::default()).collect(),
            stopped: access_links.iter().map(|_| Vec::new()).collect(),
            access_links,
            ports: [Port::new(into), Port::new(out)],
            server,
            arrivals: Timeline::new(),
            bits_per_byte,
            given: 0,
            draws,
            lost: 0,
        }
    }

    /// Returns the participant of two ends, and the direction from the first of them: 0 to the server, 1
    /// back.
    fn place(from: PeerNo, to: PeerNo) -> (usize, usize) {
        match from == SERVER {
            true => (to.index() - 1, 1),
            false => (from.index() - 1, 0),
        }
    }

    fn passes(&self, participant: usize) -> bool {
        self.access_links[participant].passes() && self.server.passes()
    }

    /// Starts the next chunk, or resumes the stopped one.
    fn feed(&mut self, participant: usize, direction: usize, now: Duration) {
        if !self.passes(participant) {
            return;
        }
        let queue = &mut self.queues[participant][direction];
        if queue.leaving.is_none()
            && let Some((_, transfer)) = queue.waiting.pop_first()
        {
            let bits = transfer.data.len() as f64 * self.bits_per_byte;
            queue.leaving = Some(Leaving { transfer, bits, began: now, flow: None });
        }
        if let Some(leaving) = queue.leaving.as_mut().filter(|leaving| leaving.flow.is_none()) {
            let most_bps = self.access_links[participant].bps(direction);
            let port = &mut self.ports[direction];
            leaving.flow = Some(port.begin(now.as_secs_f64(), most_bps, leaving.bits, participant));
        }
    }

    /// Takes a chunk off the port; the rest of it waits.
    fn stop(&mut self, participant: usize, direction: usize, now: Duration) {
        let Some(leaving) = &mut self.queues[participant][direction].leaving else { return };
        if let Some(flow) = leaving.flow.take()
            && let Some((_, bits)) = self.ports[direction].stop(now.as_secs_f64(), flow)
        {
            leaving.bits = bits;
        }
    }

    /// Handles a chunk that has left its sender.
    fn has_left(&mut self, direction: usize, now: Duration) {
        let Some((_, participant)) = self.ports[direction].end() else { return };
        if let Some(Leaving { transfer, began, .. }) = self.queues[participant][direction].leaving.take() {
            self.travel(transfer, (now - began).as_secs_f64(), now);
        }
        self.feed(participant, direction, now);
    }

    /// Sends a transfer that has left: it arrives, or its sender learns of the loss.
    fn travel(&mut self, transfer: Transfer, seconds: f64, now: Duration) {
        let (participant, direction) = Self::place(transfer.from, transfer.to);
        match self.fate(participant, direction) {
            Some(delay) => {
                let seen = Some(Seen { bits: 8.0 * transfer.data.len() as f64, seconds });
                self.arrivals.at(now + delay, LinkEvent::Arrived { transfer, seen });
            }
            None => self.loses(&transfer, now),
        }
    }

    /// Returns a message's delay, unless it is lost.
    fn fate(&mut self, participant: usize, direction: usize) -> Option<Duration> {
        let mut more_s = 0.0;
        for link in [&self.access_links[participant], &self.server] {
            more_s += link.faults[direction].draw(&mut self.draws)?;
        }
        Some(time(self.access_links[participant].delay_s + more_s))
    }

    fn loses(&mut self, transfer: &Transfer, now: Duration) {
        self.lost += 1;
        let Transfer { from: sender, to: receiver, connection, id, .. } = *transfer;
        let (participant, _) = Self::place(sender, receiver);
        let after = time(2.0 * self.access_links[participant].delay_s * LOST_AFTER).max(LEAST);
        self.arrivals.at(now + after, LinkEvent::Ended { sender, receiver, connection, id, is_taken: false });
    }

    /// Applies changed rates to leaving chunks.
    fn follow(&mut self, participants: std::ops::Range<usize>, now: Duration) {
        for participant in participants {
            for direction in 0..2 {
                self.stop(participant, direction, now);
                self.feed(participant, direction, now);
            }
            if self.passes(participant) {
                for event in std::mem::take(&mut self.stopped[participant]) {
                    self.arrivals.at(now, event);
                }
            }
        }
    }
}

impl Links for Star {
    type Change = Change;
    type Event = Infallible;

    fn send(&mut self, transfer: Transfer, now: Duration, _: &mut Later<Infallible>) {
        if transfer.priority > 0 {
            return self.travel(transfer, 0.0, now);
        }
        let (participant, direction) = Self::place(transfer.from, transfer.to);
        self.given += 1;
        let turn = (Reverse(transfer.priority), self.given);
        self.queues[participant][direction].waiting.insert(turn, transfer);
        self.feed(participant, direction, now);
    }

    fn answer(&mut self, transfer: &Transfer, now: Duration, _: &mut Later<Infallible>) {
        let Transfer { from: sender, to: receiver, connection, id, .. } = *transfer;
        let (participant, direction) = Self::place(receiver, sender);
        match self.fate(participant, direction) {
            Some(delay) => {
                let ended = LinkEvent::Ended { sender, receiver, connection, id, is_taken: true };
                self.arrivals.at(now + delay, ended);
            }
            None => self.loses(transfer, now),
        }
    }

    fn due(&mut self, event: Infallible, _: Duration, _: &mut Later<Infallible>) -> Option<LinkEvent> {
        match event {}
    }

    fn next_at(&self) -> Option<Duration> {
        let ends = self.ports.iter().filter_map(|port| port.next_end_s().map(time));
        ends.chain(self.arrivals.next_at()).min()
    }

    fn next(&mut self, now: Duration, _: &mut Later<Infallible>) -> Option<LinkEvent> {
        for direction in 0..2 {
            while self.ports[direction].next_end_s().is_some_and(|end_s| time(end_s) <= now) {
                self.has_left(direction, now);
            }
        }
        while self.arrivals.next_at().is_some_and(|at| at <= now) {
            let (_, event) = self.arrivals.take()?;
            let participant = match &event {
                LinkEvent::Arrived { transfer, .. } => Self::place(transfer.from, transfer.to).0,
                LinkEvent::Ended { sender, receiver, .. } => Self::place(*sender, *receiver).0,
                // No switch copies frames here.
                LinkEvent::Frame { .. } => continue,
            };
            if self.passes(participant) {
                return Some(event);
            }
            self.stopped[participant].push(event);
        }
        None
    }

    fn clear(&mut self, connection: u64, now: Duration) {
        for participant in 0..self.queues.len() {
            for direction in 0..2 {
                let queue = &mut self.queues[participant][direction];
                queue.waiting.retain(|_, transfer| transfer.connection != connection);
                if queue.leaving.as_ref().is_some_and(|leaving| leaving.transfer.connection == connection) {
                    self.stop(participant, direction, now);
                    self.queues[participant][direction].leaving = None;
                    self.feed(participant, direction, now);
                }
            }
        }
    }

    fn is_cut(&self, a: PeerNo, b: PeerNo) -> bool {
        !self.passes(Self::place(a, b).0)
    }

    fn change(&mut self, change: &Change, now: Duration) {
        match change.place {
            Endpoint::Participant(at) => {
                self.access_links[at].part = change.part;
                self.follow(at..at + 1, now);
            }
            Endpoint::Server => {
                self.server.part = change.part;
                if self.server.passes() {
                    for direction in 0..2 {
                        let bps = self.server.bps(direction);
                        self.ports[direction].set_rate(now.as_secs_f64(), bps);
                    }
                }
                self.follow(0..self.access_links.len(), now);
            }
        }
    }
}
