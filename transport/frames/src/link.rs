//! A connection by frames, as one side has it.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use crate::receiving::{Dropped, Receiving};
use crate::sending::Sending;
use crate::words::{Content, PART_HEAD, read, write};

/// Interval of hellos from an idle side, also before the connection is up.
const KEEP_ALIVE: Duration = Duration::from_millis(500);
const KNOCK: Duration = Duration::from_millis(100);
/// Hellos that answer are so far apart at least.
const ANSWER: Duration = Duration::from_millis(10);

/// Setup of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkSetup {
    /// Life: another one at each start, and never 0.
    pub incarnation: u32,
    /// Values of a frame: at least 32.
    pub values_per_frame: usize,
    /// Bytes of a frame on the wire, and the rate at which frames with values leave; no limit unless set.
    pub frame_bytes: usize,
    /// In bit/s.
    pub rate_bps: Option<f64>,
    /// Silence after which the connection has ended.
    pub silence: Duration,
}

/// Event of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// Connection established.
    Up,
    /// Connection ended: packets in flight may have arrived.
    Down,
    /// A packet has arrived.
    Received(Bytes),
    /// A packet is at the other side.
    Acknowledged {
        /// Id of the packet.
        id: u64,
    },
}

/// Counters of dropped and repeated frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounters {
    /// Frames that make no sense.
    pub malformed: u64,
    /// Frames of a connection that is over, or is not known yet.
    pub other_connection: u64,
    /// Parts that had arrived before.
    pub repeated: u64,
    /// Parts that were sent again.
    pub sent_again: u64,
}

/// One side. Times are since a start that the host chooses.
#[derive(Debug, Clone)]
pub struct FrameLink {
    setup: LinkSetup,
    /// Both sides' numbers of this connection: an incarnation, and one more for each connection that has
    /// ended.
    own: u32,
    other: Option<u32>,
    is_up: bool,
    heard_at: Duration,
    said_at: Option<Duration>,
    /// A hello is due; whether it is to name no connection of the other side.
    answer: Option<bool>,
    sending: Sending,
    receiving: Receiving,
    events: VecDeque<LinkEvent>,
    counters: FrameCounters,
}

impl FrameLink {
    /// Creates a side that is not connected.
    pub fn new(setup: LinkSetup) -> Self {
        FrameLink {
            setup,
            own: setup.incarnation,
            other: None,
            is_up: false,
            heard_at: Duration::ZERO,
            said_at: None,
            answer: None,
            sending: sending(&setup),
            receiving: Receiving::default(),
            events: VecDeque::new(),
            counters: FrameCounters::default(),
        }
    }

    /// Returns the counters of dropped and repeated frames.
    pub fn counters(&self) -> FrameCounters {
        let sent_again = self.counters.sent_again + self.sending.sent_again;
        FrameCounters { sent_again, ..self.counters }
    }

    /// Sends a packet; higher priorities leave first. Returns false if the connection is down, or the packet
    /// is too long.
    pub fn send(&mut self, id: u64, data: Bytes, priority: i32) -> bool {
        self.is_up && self.sending.push(id, data, priority)
    }

    /// Returns the events, in order.
    pub fn next_event(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }

    /// A frame has arrived, as its values.
    pub fn frame(&mut self, words: &[u32], now: Duration) {
        let Some((from, to, content)) = read(words) else {
            self.counters.malformed += 1;
            return;
        };
        if let Content::Hello { is_up } = content {
            return self.hello(from, to, is_up, now);
        }
        if self.other != Some(from) || to != self.own {
            self.counters.other_connection += 1;
            return;
        }
        self.heard(now);
        match content {
            Content::Part(part) => match self.receiving.take(part, now) {
                Ok(whole) => self.events.extend(whole.map(LinkEvent::Received)),
                Err(Dropped::Repeated) => self.counters.repeated += 1,
                Err(Dropped::Malformed) => self.counters.malformed += 1,
            },
            Content::Acknowledgement(taken) => match self.sending.taken(&taken, now) {
                Some(whole) => self.events.extend(whole.into_iter().map(|id| LinkEvent::Acknowledged { id })),
                None => self.counters.malformed += 1,
            },
            Content::Hello { .. } => {}
        }
    }

    /// Both sides know each other once one names the other's number.
    fn hello(&mut self, from: u32, to: u32, is_up: bool, now: Duration) {
        if self.other != Some(from) {
            // The frame is for an ended connection: its sender must learn this side's incarnation.
            if to != 0 && to != self.own {
                self.counters.other_connection += 1;
                self.answer = Some(true);
                return;
            }
            self.end();
            self.other = Some(from);
        }
        if to == self.own {
            self.heard(now);
        }
        if !is_up {
            self.answer = self.answer.or(Some(false));
        }
    }

    fn heard(&mut self, now: Duration) {
        self.heard_at = now;
        if !self.is_up {
            self.is_up = true;
            self.events.push_back(LinkEvent::Up);
        }
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.is_up) {
            return;
        }
        self.events.push_back(LinkEvent::Down);
        self.own = self.own.wrapping_add(1).max(1);
        self.counters.sent_again += self.sending.sent_again;
        (self.other, self.answer) = (None, None);
        (self.sending, self.receiving) = (sending(&self.setup), Receiving::default());
    }

    /// Advances time.
    pub fn tick(&mut self, now: Duration) {
        if self.is_up && (now >= self.heard_at + self.setup.silence || self.sending.is_used_up()) {
            self.end();
        }
        self.sending.tick(now);
    }

    fn hello_at(&self) -> Duration {
        let wait = match (self.answer, self.is_up) {
            (Some(_), _) => ANSWER,
            (None, true) => KEEP_ALIVE,
            (None, false) => KNOCK,
        };
        self.said_at.map_or(Duration::ZERO, |at| at + wait)
    }

    /// Returns when [`tick`](Self::tick) or [`next_frame`](Self::next_frame) is due.
    pub fn wake_at(&self) -> Duration {
        let hello = self.hello_at();
        let up = self.is_up.then(|| {
            let silence = self.heard_at + self.setup.silence;
            [self.receiving.due(), self.sending.wake_at()].into_iter().flatten().fold(silence, Duration::min)
        });
        up.map_or(hello, |up| up.min(hello))
    }

    /// Returns the values of a frame that leaves now, if one does.
    pub fn next_frame(&mut self, now: Duration) -> Option<Vec<u32>> {
        let content = if now >= self.hello_at() {
            let is_unknown = self.answer.take() == Some(true);
            let to = self.other.filter(|_| !is_unknown).unwrap_or(0);
            self.said_at = Some(now);
            return Some(write(self.own, to, &Content::Hello { is_up: self.is_up && !is_unknown }));
        } else if !self.is_up {
            return None;
        } else if let Some(taken) = self.receiving.acknowledge(now) {
            Content::Acknowledgement(taken)
        } else {
            Content::Part(self.sending.next(now)?)
        };
        // An answer is not put off by other frames.
        if self.answer.is_none() {
            self.said_at = Some(now);
        }
        Some(write(self.own, self.other.unwrap_or(0), &content))
    }
}

fn sending(setup: &LinkSetup) -> Sending {
    let gap = setup.rate_bps.map_or(0.0, |rate_bps| 8.0 * setup.frame_bytes as f64 / rate_bps);
    let gap = if gap.is_finite() { gap.clamp(0.0, 3600.0) } else { 3600.0 };
    let room = 4 * setup.values_per_frame.saturating_sub(PART_HEAD);
    Sending::new(room, Duration::from_secs_f64(gap))
}
