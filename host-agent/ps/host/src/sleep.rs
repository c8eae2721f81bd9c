//! When a machine is looked at again.

use std::time::{Duration, Instant};

/// It is asked what is due no more often.
const SHORTEST: Duration = Duration::from_micros(200);
/// Nor is it left alone for longer.
const LONGEST: Duration = Duration::from_millis(500);

/// The time of the next look at a machine that began at `start`, where something is due at `due`.
pub fn next_look(start: Instant, due: Option<Duration>) -> Instant {
    let now = start.elapsed();
    start + due.unwrap_or(Duration::MAX).clamp(now + SHORTEST, now + LONGEST)
}

/// A random number that is not 0: the standard library seeds its hash maps by the system's.
pub fn draw() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    (RandomState::new().hash_one(0u8) as u32).max(1)
}
