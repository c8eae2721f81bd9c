//! Times of machines, and in seconds.

use std::time::Duration;

/// A time in seconds as machines take it, to the nanosecond.
pub fn duration(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).round() as u64)
}

/// A machine's time in seconds.
pub fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e9
}
