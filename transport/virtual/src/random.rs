//! Random numbers that a seed names, equal on every machine.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, Fig. 16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64(u64);

/// Increment of SplitMix64's state per draw.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes the bits of a number: SplitMix64's output function.
#[inline]
pub fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl SplitMix64 {
    /// Returns the generator that this seed names.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Creates a generator of its own for one of many: of number `index` under this seed.
    pub fn stream(seed: u64, index: u64) -> Self {
        let mut of_seed = SplitMix64(seed);
        let start = of_seed.next_u64();
        SplitMix64(SplitMix64(start ^ index.wrapping_mul(GAMMA)).next_u64())
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mixed(self.0)
    }

    /// Returns a number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (-53f64).exp2()
    }

    /// Returns a number from `low` to below `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.fraction()
    }

    /// Returns a number of the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (first, second) = (self.fraction(), self.fraction());
        (-2.0 * (1.0 - first).ln()).sqrt() * (std::f64::consts::TAU * second).cos()
    }

    /// Returns a number of the log-normal distribution of this mean and coefficient of variation; without
    /// variation the mean, and nothing is drawn.
    pub fn log_normal(&mut self, mean: f64, cv: f64) -> f64 {
        if cv == 0.0 {
            return mean;
        }
        let square = (cv * cv).ln_1p();
        (mean.ln() - square / 2.0 + square.sqrt() * self.normal()).exp()
    }

    /// Returns that many of the elements in random order (partial shuffle); all of them if there are fewer.
    pub fn sample<T: Copy>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut all = from.to_vec();
        let count = count.min(all.len());
        for at in 0..count {
            let left = (all.len() - at) as f64;
            all.swap(at, at + (self.fraction() * left) as usize);
        }
        all.truncate(count);
        all
    }
}
