//! Rate of a flow: the planned rate, and lower while its path is congested (after DCTCP, RFC 8257).

use core::time::Duration;

/// Rate of one flow, adjusted once per round trip by the share of results with a congestion mark. With any
/// mark it falls by half of the smoothed share; otherwise it rises by a step towards the planned rate. A sum
/// has the marks of all its contributions, and its result goes to all workers, so all flows of a job slow
/// down together.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    planned_bps: f64,
    rate_bps: f64,
    /// Smoothed share of marked results, 0 to 1.
    marked_share: f64,
    /// Chunk whose result (or a later one) ends the round trip: the next one to be sent at its start.
    ends_at: u64,
    /// The shortest time from sending a chunk to its result.
    least: Option<Duration>,
    answered: u32,
    marked: u32,
    lost: u32,
}

impl RateControl {
    /// Weight of the newest round trip in the smoothed share (RFC 8257, 3.3).
    const GAIN: f64 = 1.0 / 16.0;
    /// Increase per round trip without marks, as a share of the planned rate.
    const STEP: f64 = 1.0 / 32.0;
    /// The lowest rate, as part of the planned rate.
    const FLOOR: f64 = 1.0 / 128.0;

    pub(super) fn new(planned_bps: f64) -> Self {
        Self {
            planned_bps,
            rate_bps: planned_bps,
            marked_share: 1.0,
            ends_at: 0,
            least: None,
            answered: 0,
            marked: 0,
            lost: 0,
        }
    }

    /// Changes to another path and planned rate, at the same share of it, and forgets how long chunks take.
    /// `next` is the chunk that is sent next.
    pub(super) fn replan(&mut self, planned_bps: f64, next: u64) {
        self.rate_bps *= planned_bps / self.planned_bps;
        (self.planned_bps, self.least) = (planned_bps, None);
        self.start_round_trip(next);
    }

    /// Changes to another path at its planned rate.
    pub(super) fn start_at(&mut self, planned_bps: f64, next: u64) {
        (self.planned_bps, self.rate_bps, self.least) = (planned_bps, planned_bps, None);
        self.start_round_trip(next);
    }

    /// The plan's rate, in bits of Ethernet frames per second.
    pub(super) fn planned_bps(&self) -> f64 {
        self.planned_bps
    }

    /// Returns the rate in bits of Ethernet frames per second.
    pub(super) fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// Returns how many chunks of a window may be in flight, if each is a frame of `frame_bytes`. Below the
    /// planned rate this is what is sent in four round trips, so that queues stay short.
    pub(super) fn window(&self, window: u32, frame_bytes: usize, round_trip: Option<Duration>) -> u32 {
        match round_trip {
            Some(time) if self.rate_bps < self.planned_bps => {
                let chunks = 4.0 * time.as_secs_f64() * self.rate_bps / (8.0 * frame_bytes as f64);
                // The cast saturates.
                window.min(2 + chunks as u32)
            }
            _ => window,
        }
    }

    /// A chunk was found lost.
    pub(super) fn lost(&mut self) {
        self.lost += 1;
    }

    /// Returns whether the mark on a result describes the current state. The chunk's last transmission was
    /// `time` ago; `frame` is the time between frames. The mark may be old: of a peer's frame that was in a
    /// slot until this worker's frame arrived. If the chunk passed without waiting, the congestion is over,
    /// and a worker that slows down now would delay all others. A wait of two frames' time is not significant
    /// either: on a link that the plan fills, the frames of all workers may arrive at the same moment.
    pub(super) fn is_current(&mut self, time: Duration, frame: Duration) -> bool {
        let least = self.least.map_or(time, |least| least.min(time));
        self.least = Some(least);
        time > least + (8 * frame).min((least / 8).max(2 * frame))
    }

    /// Starts a round trip; `next` is the chunk that is sent next.
    pub(super) fn start_round_trip(&mut self, next: u64) {
        (self.ends_at, self.answered, self.marked, self.lost) = (next, 0, 0, 0);
    }

    /// Processes a chunk's result, when `next` is the chunk that is sent next. Returns whether the rate
    /// changed. If half the frames are lost while a queue does not drain, the queue overflows: that counts as
    /// marks. Less loss, or loss without a queue, changes nothing: links lose frames too.
    pub(super) fn answered(&mut self, chunk: u64, next: u64, marked: bool, queued: bool) -> bool {
        self.answered += 1;
        self.marked += u32::from(marked);
        if chunk < self.ends_at {
            return false;
        }
        if queued && self.lost > self.answered {
            self.marked = self.answered;
        }
        let share = f64::from(self.marked) / f64::from(self.answered);
        self.marked_share += Self::GAIN * (share - self.marked_share);
        let before = self.rate_bps;
        self.rate_bps = if self.marked > 0 {
            (before * (1.0 - self.marked_share / 2.0)).max(Self::FLOOR * self.planned_bps)
        } else {
            (before + Self::STEP * self.planned_bps).min(self.planned_bps)
        };
        self.start_round_trip(next);
        before != self.rate_bps
    }
}
