//! Time as the switch counts it.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Counts from the switch's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(pub Instant);

impl Clock {
    /// Microseconds since the switch's start.
    pub fn now_us(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Nanoseconds since the switch's start.
    pub fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds since 1970, for time stamps in messages.
pub(super) fn epoch_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
