//! How fast a flow sends: as fast as the plan says, and slower while its way is congested (after DCTCP, RFC
//! 8257).

use core::time::Duration;

/// Rate of one flow. Once per round trip it takes in which share of the results came back marked: with any
/// mark it falls by half of the smoothed share, without it rises by a step towards the plan's. Marks are one
/// network-wide signal, since a sum has the marks of everything in it and its result goes to all workers:
/// flows of one job fall together.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    planned_bps: f64,
    rate_bps: f64,
    /// Smoothed share of marked results, 0 to 1.
    marked_share: f64,
    /// The round trip ends with the result of this chunk or a later one: those sent since it began.
    ends_at: u64,
    /// The shortest time from sending a chunk to its result.
    least: Option<Duration>,
    answered: u32,
    marked: u32,
    lost: u32,
}

impl RateControl {
    /// How much of the smoothed share each round trip renews (RFC 8257, 3.3).
    const GAIN: f64 = 1.0 / 16.0;
    /// What a round trip without marks adds, as part of the planned rate.
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

    /// In bits of Ethernet frames per second.
    pub(super) fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// Chunks that may be in flight of a window of so many, if each is a frame of `frame_bytes`: below the
    /// planned rate, what leaves in four round trips, so that queues stay short.
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

    /// A chunk was taken for lost.
    pub(super) fn lost(&mut self) {
        self.lost += 1;
    }

    /// Whether a mark tells anything about now, on the result of a chunk that was sent last so long ago;
    /// `frame` is the time between frames. It may be old: of a peer's frame that lay in a slot until this
    /// worker's came. If that came through without waiting, nothing is congested any more, and whoever slows
    /// down then is the one that all wait for.
    pub(super) fn is_news(&mut self, time: Duration, frame: Duration) -> bool {
        let least = self.least.map_or(time, |least| least.min(time));
        self.least = Some(least);
        time > least + (8 * frame).min(least / 8)
    }

    /// A round trip begins; `next` is the chunk that is sent next.
    pub(super) fn start_round_trip(&mut self, next: u64) {
        (self.ends_at, self.answered, self.marked, self.lost) = (next, 0, 0, 0);
    }

    /// Takes in a chunk's result, when `next` is the chunk that is sent next; whether the rate changed. Loss
    /// of half the frames beside a queue that does not drain is that queue's overflow, and as good as marks.
    /// Less loss, or without a queue, says nothing: links lose frames too.
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
