//! Two-rate three-color meters (RFC 2698), as bmv2 runs them: tokens in exact integers.

use crate::control::MeterConfig;

/// Colors as v1model numbers them.
const GREEN: u64 = 0;
const YELLOW: u64 = 1;
const RED: u64 = 2;

/// One meter. Without a configuration every packet is green.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeterCell {
    pub config: Option<MeterConfig>,
    committed: Bucket,
    peak: Bucket,
}

/// Tokens times one million, so that a rate per second adds whole numbers per microsecond.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    tokens: u128,
    filled_us: u64,
}

const SCALE: u128 = 1_000_000;

impl Bucket {
    fn fill(&mut self, rate: u64, burst: u64, now_us: u64) {
        let elapsed = now_us.saturating_sub(self.filled_us);
        self.filled_us = self.filled_us.max(now_us);
        let added = u128::from(rate) * u128::from(elapsed);
        self.tokens = (self.tokens + added).min(u128::from(burst) * SCALE);
    }

    fn take(&mut self, amount: u64) -> bool {
        let amount = u128::from(amount) * SCALE;
        let enough = self.tokens >= amount;
        if enough {
            self.tokens -= amount;
        }
        enough
    }
}

impl MeterCell {
    /// Sets the rates; both buckets start full.
    pub fn configure(&mut self, config: Option<MeterConfig>) {
        self.config = config;
        let full = |burst: u64| Bucket { tokens: u128::from(burst) * SCALE, filled_us: 0 };
        self.committed = full(config.map_or(0, |config| config.committed_burst));
        self.peak = full(config.map_or(0, |config| config.peak_burst));
    }

    /// Returns the color of a packet that costs `amount` (1, or its bytes).
    pub fn color(&mut self, amount: u64, now_us: u64) -> u64 {
        let Some(config) = self.config else { return GREEN };
        self.peak.fill(config.peak_rate, config.peak_burst, now_us);
        self.committed.fill(config.committed_rate, config.committed_burst, now_us);
        if !self.peak.take(amount) {
            RED
        } else if !self.committed.take(amount) {
            YELLOW
        } else {
            GREEN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_follow_the_buckets() {
        let mut meter = MeterCell::default();
        assert_eq!(meter.color(1, 0), GREEN);
        meter.configure(Some(MeterConfig {
            committed_rate: 1,
            committed_burst: 1,
            peak_rate: 2,
            peak_burst: 2,
        }));
        assert_eq!([meter.color(1, 0), meter.color(1, 0), meter.color(1, 0)], [GREEN, YELLOW, RED]);
        assert_eq!([meter.color(1, 1_000_000), meter.color(1, 1_000_000)], [GREEN, YELLOW]);
    }
}
