//! All links: accepts frames at one end and schedules their arrival at the other, or their loss.

use inart_topologies::faults::quantity::{Share, Span};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::channel::{Channel, INART};
use crate::event_queue::{ChannelId, EventKind, EventQueue, FrameId};
use crate::log::Log;
use crate::pool::Pool;
use crate::tally::Tally;

/// Fault of one frame on one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleFault {
    /// Loss.
    Drop,
    /// Duplication.
    Duplicate,
    /// Delay, while others overtake the frame.
    Delay(Span),
}

/// Fate of a frame on a hop.
struct Passage {
    /// Arrival time.
    at: u64,
    /// Whether it arrives twice.
    twice: bool,
    /// Description for the log.
    fate: &'static str,
}

/// Links with their frames.
pub(crate) struct Wire<'a> {
    pub now: u64,
    pub events: EventQueue,
    pub frames: Pool,
    pub channels: Vec<Channel>,
    pub rng: ChaCha8Rng,
    /// Frames given to a link so far.
    pub hops: u64,
    /// The one hop with a fault, by its number.
    pub single: Option<(u64, SingleFault)>,
    pub tally: Tally,
    pub log: Log<'a>,
}

impl Wire<'_> {
    /// Sends a frame into a channel.
    pub fn transmit(&mut self, to: ChannelId, frame: FrameId) {
        let hop = self.hops;
        self.hops += 1;
        let bytes = &self.frames.get(frame).bytes;
        let (bytes, others) = (bytes.len(), bytes.get(12..14) != Some(&INART));
        let channel = &mut self.channels[to.0 as usize];
        if channel.down > 0 {
            self.tally.cut += 1;
            return self.lose(to, frame, "link down");
        }
        let Some(sent_at) = channel.enqueue(self.now, bytes, others) else {
            self.tally.overflowed += 1;
            return self.lose(to, frame, "queue full");
        };
        let (at, generation, faulty) = (sent_at + channel.delay, channel.generation, channel.faulty);
        let in_flight = self.frames.get_mut(frame);
        (in_flight.channel, in_flight.generation, in_flight.corrupt) = (to, generation, false);
        let mut passage = Passage { at, twice: false, fate: "sent" };
        let survives =
            (!faulty || self.draw_faults(to, frame, &mut passage)) && self.single_out(hop, &mut passage);
        if !survives {
            self.tally.dropped += 1;
            return self.lose(to, frame, "lost");
        }
        self.events.at(passage.at, EventKind::Arrive(frame));
        self.log.frame(self.now, to, &self.frames.get(frame).bytes, passage.fate);
        if passage.twice {
            let copy = self.frames.take();
            let bytes = std::mem::take(&mut self.frames.get_mut(frame).bytes);
            self.frames.get_mut(copy).bytes.clone_from(&bytes);
            self.frames.get_mut(frame).bytes = bytes;
            let corrupt = self.frames.get(frame).corrupt;
            let in_flight = self.frames.get_mut(copy);
            (in_flight.channel, in_flight.generation, in_flight.corrupt) = (to, generation, corrupt);
            self.events.at(passage.at + 1, EventKind::Arrive(copy));
        }
    }

    /// Draws the channel's faults for a frame. Returns false if the frame is lost.
    fn draw_faults(&mut self, to: ChannelId, frame: FrameId, passage: &mut Passage) -> bool {
        // Drawn in a fixed order, each only if it can happen.
        let channel = &mut self.channels[to.0 as usize];
        let rng = &mut self.rng;
        let mut draw = |share: Share| share.get() > 0.0 && rng.random_bool(share.get());
        let faults = &channel.faults;
        let [drop, duplicate, corrupt, reorder, delay] =
            [faults.drop, faults.duplicate, faults.corrupt, faults.reorder, faults.delay].map(&mut draw);
        if drop {
            return false;
        }
        if corrupt {
            self.tally.corrupted += 1;
            self.frames.get_mut(frame).corrupt = true;
            passage.fate = "corrupted";
        }
        if duplicate {
            self.tally.duplicated += 1;
            (passage.twice, passage.fate) = (true, "duplicated");
        }
        let by = |by: Option<Span>| by.map_or(1, |by| by.0).max(1);
        if delay {
            self.tally.delayed += 1;
            passage.at += self.rng.random_range(1..=by(faults.delay_by));
            passage.fate = "delayed";
        }
        passage.at = passage.at.max(channel.last_arrival);
        if reorder {
            self.tally.reordered += 1;
            passage.at += self.rng.random_range(1..=by(faults.reorder_by));
            passage.fate = "reordered";
        } else {
            channel.last_arrival = passage.at;
        }
        true
    }

    /// Applies the fault requested for this hop only. Returns false if the frame is lost.
    fn single_out(&mut self, hop: u64, passage: &mut Passage) -> bool {
        match self.single.filter(|(number, _)| *number == hop) {
            Some((_, SingleFault::Drop)) => return false,
            Some((_, SingleFault::Duplicate)) => {
                self.tally.duplicated += 1;
                (passage.twice, passage.fate) = (true, "duplicated");
            }
            Some((_, SingleFault::Delay(by))) => {
                self.tally.reordered += 1;
                passage.at += by.0;
                passage.fate = "reordered";
            }
            None => {}
        }
        true
    }

    /// Drops a frame.
    pub fn lose(&mut self, channel: ChannelId, frame: FrameId, why: &str) {
        self.log.frame(self.now, channel, &self.frames.get(frame).bytes, why);
        self.frames.give_back(frame);
    }
}
