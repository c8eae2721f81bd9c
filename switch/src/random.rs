//! A small seeded generator for the program's `random`.

use inart_virtual::SplitMix64;

/// Repeats exactly for a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Uniform between two inclusive bounds.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            // The bias of one multiplication is below 2^-64 × the range.
            Some(range) => low + ((u128::from(self.0.next_u64()) * u128::from(range)) >> 64) as u64,
            None => self.0.next_u64(),
        }
    }
}
