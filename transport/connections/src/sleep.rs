//! Time of the next look at a machine.

use std::time::{Duration, Instant};

/// Longest time without a look.
const LONGEST: Duration = Duration::from_millis(500);

/// Returns the time of the next look at a machine that started at `start` and has something due at `due`.
/// `shortest`: the least time until then.
pub fn next_look(start: Instant, due: Option<Duration>, shortest: Duration) -> Instant {
    let now = start.elapsed();
    start + due.unwrap_or(Duration::MAX).clamp(now + shortest, now + LONGEST)
}
