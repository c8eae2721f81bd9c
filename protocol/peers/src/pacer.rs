//! When the next frame may leave.

use std::time::Duration;

/// A clock that ticks once per frame. A sender that comes late may catch up by a millisecond, or by eight
/// frames if these are less: timers oversleep, and longer bursts fill queues.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pacer {
    frame: Duration,
    due: Duration,
}

const CATCH_UP: Duration = Duration::from_millis(1);
const FRAMES: u32 = 8;

impl Pacer {
    /// Frames of so many bytes, at a rate in bit/s.
    pub(crate) fn new(frame_bytes: usize, rate_bps: f64, now: Duration) -> Self {
        Pacer { frame: time_of(frame_bytes, rate_bps), due: now }
    }

    /// Goes on at another rate. The next frame waits no longer than it does at that rate.
    pub(crate) fn set_rate(&mut self, frame_bytes: usize, rate_bps: f64, now: Duration) {
        self.frame = time_of(frame_bytes, rate_bps);
        self.due = self.due.min(now.saturating_add(self.frame));
    }

    /// When the next frame may leave.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// So many frames leave now. What was not used of the time before is lost, but for a little.
    pub(crate) fn take(&mut self, frames: usize, now: Duration) {
        let credit = CATCH_UP.max(self.frame).min(self.frame.saturating_mul(FRAMES));
        let from = self.due.max(now.saturating_sub(credit));
        self.due = from.saturating_add(self.frame.saturating_mul(frames.try_into().unwrap_or(u32::MAX)));
    }
}

/// How long so many bytes take at a rate in bit/s.
pub(crate) fn time_of(frame_bytes: usize, rate_bps: f64) -> Duration {
    // The cast saturates: a rate so low that a frame takes centuries is as good as none.
    Duration::from_nanos((8.0 * frame_bytes as f64 * 1e9 / rate_bps).ceil() as u64)
}
