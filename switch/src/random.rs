//! A small seeded generator (SplitMix64) for the program's `random`.

/// Repeats exactly for a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Uniform between two inclusive bounds.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            // The bias of one multiplication is below 2^-64 × the range.
            Some(range) => low + ((u128::from(self.next()) * u128::from(range)) >> 64) as u64,
            None => self.next(),
        }
    }
}
