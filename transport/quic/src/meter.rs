//! Rate at which data arrives on a connection during bursts: a passive measurement of the link.

use std::time::{Duration, Instant};

/// Data after a longer pause starts a new burst. Shorter pauses are those of a slow link, or of a process
/// that had to wait for its turn.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// Bytes that queues and shapers pass immediately after a pause.
const AT_ONCE_BYTES: u64 = 8 << 10;

/// Bytes that followed others closely, and the time that they took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    last: Option<Instant>,
    /// Bytes of this burst so far, at most [`AT_ONCE_BYTES`].
    at_once: u64,
    bytes: u64,
    time: Duration,
}

impl Meter {
    /// Records the arrival of bytes.
    pub fn arrived(&mut self, bytes: u64, now: Instant) {
        let pause = self.last.map(|last| now.saturating_duration_since(last));
        self.last = Some(now);
        // The first bytes of a burst show nothing: their duration was not measured.
        let Some(pause) = pause.filter(|pause| *pause <= LONGEST_PAUSE) else {
            self.at_once = bytes;
            return;
        };
        if self.at_once < AT_ONCE_BYTES {
            self.at_once += bytes;
            return;
        }
        self.bytes += bytes;
        self.time += pause;
    }

    /// Bits and seconds since the last call, once there is enough.
    pub fn take(&mut self, enough: Duration) -> Option<(f64, f64)> {
        if self.time < enough {
            return None;
        }
        let taken = (self.bytes as f64 * 8.0, self.time.as_secs_f64());
        (self.bytes, self.time) = (0, Duration::ZERO);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let (start, mut meter) = (Instant::now(), Meter::default());
        let at = |ms: u64| start + Duration::from_millis(ms);
        // 1000 bytes every 2 ms, with a pause of a second.
        (0..50).for_each(|step| meter.arrived(1000, at(2 * step)));
        (0..50).for_each(|step| meter.arrived(1000, at(1098 + 2 * step)));
        assert_eq!(meter.take(Duration::from_secs(1)), None);
        let (bits, seconds) = meter.take(Duration::from_millis(100)).unwrap_or_default();
        assert_eq!((bits, seconds), (82.0 * 8000.0, 0.164));
        assert_eq!(meter.take(Duration::ZERO), Some((0.0, 0.0)));
    }
}
