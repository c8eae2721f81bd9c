//! Batch sizes that fill idle time (Section IV-A3, Table III).

use std::time::Duration;

use crate::part::nanoseconds;

/// Batch parameters of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Samples of its first batch, b₀; at least 1.
    pub start: u32,
    /// Speed beyond the first batch, in thousandths of a sample per second; at least 1.
    pub speed_milli: u64,
}

impl Batch {
    /// Creates parameters from a first batch, and the speed in samples per second.
    pub fn new(start: u32, speed: f64) -> Batch {
        let milli = (speed * 1e3).round();
        Batch { start: start.max(1), speed_milli: milli.clamp(1.0, 1e18) as u64 }
    }

    /// Returns the batch that fills an idle time: b₀ + speed × idle, rounded.
    pub fn filling(&self, idle: Duration) -> u32 {
        // Nanoseconds times thousandths of samples per second.
        const UNIT: u128 = 1_000_000_000_000;
        let more = (idle.as_nanos() * u128::from(self.speed_milli) + UNIT / 2) / UNIT;
        self.start.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
    }

    /// Returns the time that a batch takes beyond that of the first batch.
    pub fn beyond(&self, batch: u32) -> Duration {
        let more = u128::from(batch.saturating_sub(self.start));
        nanoseconds(more * 1_000_000_000_000 / u128::from(self.speed_milli))
    }

    /// Returns the batch in proportion to the speed, where the slowest worker processes `slowest_milli`
    /// thousandths of a sample per second and has the first batch, rounded. All workers take equally long
    /// only where an iteration takes batch / speed.
    pub fn proportional(&self, slowest_milli: u64) -> u32 {
        let (start, speed, slowest) =
            (u128::from(self.start), u128::from(self.speed_milli), u128::from(slowest_milli.max(1)));
        u32::try_from((start * speed + slowest / 2) / slowest).unwrap_or(u32::MAX)
    }
}

/// Rule of batch tuning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchRule {
    /// Batches fill each worker's idle time: Table III's numbers.
    FillIdle,
    /// Batches are proportional to the speed: the R²SP paper's words.
    Proportional,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table III, and the numbers that its words would give.
    #[test]
    fn table_iii() {
        let workers = [(429.0, 0), (628.0, 620), (917.0, 820)];
        let batch = |speed| Batch::new(512, speed);
        let filled = workers.map(|(speed, idle)| batch(speed).filling(Duration::from_millis(idle)));
        assert_eq!(filled, [512, 901, 1264]);
        assert_eq!(workers.map(|(speed, _)| batch(speed).proportional(429_000)), [512, 750, 1094]);
    }

    #[test]
    fn a_batch_takes_as_long_as_it_fills() {
        let batch = Batch::new(512, 628.0);
        let left = Duration::from_millis(620).abs_diff(batch.beyond(901));
        // Half a sample.
        assert!(left < Duration::from_millis(1), "{left:?}");
        assert_eq!(batch.beyond(500), Duration::ZERO);
    }
}
