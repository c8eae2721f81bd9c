//! Pacing of frames.

use std::time::Duration;

/// Paces frames at a rate. A late sender may catch up by a millisecond, or by eight frames if these are less:
/// timers oversleep, and longer bursts fill queues.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pacer {
    frame: Duration,
    due: Duration,
}

const CATCH_UP: Duration = Duration::from_millis(1);
const FRAMES: u32 = 8;

impl Pacer {
    /// Paces frames of `frame_bytes` bytes, at a rate in bit/s.
    pub(crate) fn new(frame_bytes: usize, rate_bps: f64, now: Duration) -> Self {
        Pacer { frame: time_of(frame_bytes, rate_bps), due: now }
    }

    /// Continues at another rate. The next frame waits no longer than at that rate.
    pub(crate) fn set_rate(&mut self, frame_bytes: usize, rate_bps: f64, now: Duration) {
        self.frame = time_of(frame_bytes, rate_bps);
        self.due = self.due.min(now.saturating_add(self.frame));
    }

    /// Returns when the next frame may leave.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// Takes note that `frames` frames leave now. Unused earlier time is lost, except for a little.
    pub(crate) fn take(&mut self, frames: usize, now: Duration) {
        let credit = CATCH_UP.max(self.frame).min(self.frame.saturating_mul(FRAMES));
        let from = self.due.max(now.saturating_sub(credit));
        self.due = from.saturating_add(self.frame.saturating_mul(frames.try_into().unwrap_or(u32::MAX)));
    }
}

/// Returns how long `frame_bytes` bytes take at a rate in bit/s.
pub(crate) fn time_of(frame_bytes: usize, rate_bps: f64) -> Duration {
    // The cast saturates: a rate at which a frame takes centuries equals no rate.
    Duration::from_nanos((8.0 * frame_bytes as f64 * 1e9 / rate_bps).ceil() as u64)
}
