//! Random incarnation numbers of processes.

use std::hash::{BuildHasher, RandomState};

/// Draws a random number other than 0. The standard library seeds its hash maps by the system's randomness.
pub fn draw() -> u32 {
    (RandomState::new().hash_one(0u8) as u32).max(1)
}
