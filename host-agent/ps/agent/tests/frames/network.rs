//! Faults of frames.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Parts of frames that are lost, duplicated, and delayed for up to 60 ms while others overtake them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    pub loss: f64,
    pub duplicated: f64,
    pub late: f64,
}

impl Faults {
    pub fn random(seed: u64) -> Faults {
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xf4a3e);
        let mut part = |most: f64| if random.random_bool(0.7) { random.random_range(0.0..most) } else { 0.0 };
        Faults { loss: part(0.3), duplicated: part(0.2), late: part(0.2) }
    }

    /// Returns the delay of each copy of a frame.
    pub fn copies(&self, random: &mut ChaCha8Rng) -> Vec<Duration> {
        let mut copies = Vec::new();
        let count = if random.random_bool(self.duplicated) { 2 } else { 1 };
        for _ in 0..count {
            if !random.random_bool(self.loss) {
                let held = if random.random_bool(self.late) { random.random_range(0..60_000) } else { 0 };
                copies.push(Duration::from_micros(500 + held));
            }
        }
        copies
    }
}
