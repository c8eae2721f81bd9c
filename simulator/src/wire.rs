//! All links: accepts frames at one end and schedules their arrival at the other, or their loss.

use inart_faults::quantity::{Share, Span};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::channel::Channel;
use crate::event_queue::{ChannelId, EventKind, EventQueue, FrameId};
use crate::log::Log;
use crate::pool::Pool;
use crate::tally::Tally;

/// What is done to one frame on one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleFault {
    /// It is lost.
    Drop,
    /// It arrives twice.
    Duplicate,
    /// It is held back by so long, while others overtake it.
    Delay(Span),
}

/// The links with what is on them.
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
        let bytes = self.frames.get(frame).bytes.len();
        let channel = &mut self.channels[to.0 as usize];
        if channel.down > 0 {
            self.tally.cut += 1;
            return self.lose(to, frame, "link down");
        }
        let Some(sent_at) = channel.enqueue(self.now, bytes) else {
            self.tally.overflowed += 1;
            return self.lose(to, frame, "queue full");
        };
        let (mut at, generation) = (sent_at + channel.delay, channel.generation);
        let in_flight = self.frames.get_mut(frame);
        (in_flight.channel, in_flight.generation, in_flight.corrupt) = (to, generation, false);
        let mut fate = "sent";
        let mut twice = false;
        if channel.faulty {
            // Drawn in a fixed order, each only if it can happen.
            let rng = &mut self.rng;
            let mut draw = |share: Share| share.get() > 0.0 && rng.random_bool(share.get());
            let faults = &channel.faults;
            let [drop, duplicate, corrupt, reorder, delay] =
                [faults.drop, faults.duplicate, faults.corrupt, faults.reorder, faults.delay].map(&mut draw);
            if drop {
                self.tally.dropped += 1;
                return self.lose(to, frame, "lost");
            }
            if corrupt {
                self.tally.corrupted += 1;
                self.frames.get_mut(frame).corrupt = true;
                fate = "corrupted";
            }
            if duplicate {
                self.tally.duplicated += 1;
                (twice, fate) = (true, "doubled");
            }
            let by = |by: Option<Span>| by.map_or(1, |by| by.0).max(1);
            if delay {
                self.tally.delayed += 1;
                at += self.rng.random_range(1..=by(faults.delay_by));
                fate = "delayed";
            }
            if reorder {
                self.tally.reordered += 1;
                at = at.max(channel.last_arrival) + self.rng.random_range(1..=by(faults.reorder_by));
                fate = "reordered";
            } else {
                at = at.max(channel.last_arrival);
                channel.last_arrival = at;
            }
        }
        match self.single.filter(|(number, _)| *number == hop) {
            Some((_, SingleFault::Drop)) => {
                self.tally.dropped += 1;
                return self.lose(to, frame, "lost");
            }
            Some((_, SingleFault::Duplicate)) => {
                self.tally.duplicated += 1;
                (twice, fate) = (true, "doubled");
            }
            Some((_, SingleFault::Delay(by))) => {
                self.tally.reordered += 1;
                at += by.0;
                fate = "reordered";
            }
            None => {}
        }
        self.events.schedule(at, EventKind::Arrive(frame));
        self.log.frame(self.now, to, &self.frames.get(frame).bytes, fate);
        if twice {
            let copy = self.frames.take();
            let bytes = std::mem::take(&mut self.frames.get_mut(frame).bytes);
            self.frames.get_mut(copy).bytes.clone_from(&bytes);
            self.frames.get_mut(frame).bytes = bytes;
            let corrupt = self.frames.get(frame).corrupt;
            let in_flight = self.frames.get_mut(copy);
            (in_flight.channel, in_flight.generation, in_flight.corrupt) = (to, generation, corrupt);
            self.events.schedule(at + 1, EventKind::Arrive(copy));
        }
    }

    /// Drops a frame.
    pub fn lose(&mut self, channel: ChannelId, frame: FrameId, why: &str) {
        self.log.frame(self.now, channel, &self.frames.get(frame).bytes, why);
        self.frames.give_back(frame);
    }
}
