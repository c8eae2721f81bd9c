//! Random numbers that a seed names, the same on every machine.
//!
//! Pure: no I/O and no clock.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, Fig. 16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64(u64);

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// The generator that this seed names.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// A generator of its own for one of many: of number `index` under this seed.
    pub fn stream(seed: u64, index: u64) -> Self {
        let mut of_seed = SplitMix64(seed);
        let start = of_seed.next_u64();
        SplitMix64(SplitMix64(start ^ index.wrapping_mul(GAMMA)).next_u64())
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (-53f64).exp2()
    }

    /// A number from `low` to below `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.fraction()
    }

    /// A number of the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (first, second) = (self.fraction(), self.fraction());
        (-2.0 * (1.0 - first).ln()).sqrt() * (std::f64::consts::TAU * second).cos()
    }

    /// A number of the log-normal distribution of this mean and coefficient of variation; without variation
    /// the mean, and nothing is drawn.
    pub fn log_normal(&mut self, mean: f64, cv: f64) -> f64 {
        if cv == 0.0 {
            return mean;
        }
        let square = (cv * cv).ln_1p();
        (mean.ln() - square / 2.0 + square.sqrt() * self.normal()).exp()
    }

    /// So many of them, in random order: the front of a partial shuffle. All, if there are not more.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference computation.
    #[test]
    fn the_first_draws_of_seed_1() {
        let mut bits = SplitMix64::new(1);
        assert_eq!(
            [bits.next_u64(), bits.next_u64(), bits.next_u64()],
            [10451216379200822465, 13757245211066428519, 17911839290282890590]
        );
        let mut fractions = SplitMix64::new(1);
        assert_eq!([fractions.fraction(), fractions.fraction()], [0.5665615751722809, 0.7457817572627011]);
        let mut normal = SplitMix64::new(1);
        for value in [-0.034267321791851144, -2.5000674933698677, 0.08772246831488635] {
            assert!((normal.normal() - value).abs() < 1e-14);
        }
        let numbers: Vec<u32> = (0..10).collect();
        assert_eq!(SplitMix64::new(1).sample(&numbers, 4), [5, 7, 9, 6]);
        assert_eq!(SplitMix64::new(1).sample(&numbers, 40).len(), 10);
    }

    #[test]
    fn a_log_normal_has_its_mean_and_variation() {
        let mut random = SplitMix64::new(7);
        let values: Vec<f64> = (0..200_000).map(|_| random.log_normal(2.0, 0.57)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert!(
            (mean - 2.0).abs() < 0.01 && (variance.sqrt() / mean - 0.57).abs() < 0.01,
            "{mean} {variance}"
        );
        assert_eq!(random.log_normal(3.0, 0.0), 3.0);
    }
}
