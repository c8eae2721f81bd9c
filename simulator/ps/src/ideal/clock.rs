//! Conversions between times of machines and seconds.

use std::time::Duration;

/// Converts seconds to a machine's time, to the nanosecond.
pub fn duration(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).round() as u64)
}

/// Converts a machine's time to seconds.
pub fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e9
}
