//! How long to wait for a result (RFC 6298).

use core::time::Duration;

use crate::Instant;

/// Estimate of the time from sending a chunk to its result, which includes waiting for the slowest peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttEstimator {
    /// Smoothed time and its variation; `None` before the first sample.
    smoothed: Option<(Duration, Duration)>,
    /// Times the wait was doubled since the last sample: when waits are too short for a queue that has grown, every chunk
    /// is sent twice and none gives a sample.
    doublings: u32,
    /// When that was done last.
    doubled_at: Instant,
}

impl RttEstimator {
    /// Before the first sample.
    const INITIAL: Duration = Duration::from_millis(200);
    /// Hosts share processors with their peers when emulated: shorter waits would only resend what is on its way.
    const MIN: Duration = Duration::from_millis(20);
    const MAX: Duration = Duration::from_millis(500);

    /// The smoothed time; `None` before the first sample.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed.map(|(mean, _)| mean)
    }

    /// Takes in the time of a chunk that was sent once.
    pub(crate) fn sample(&mut self, time: Duration) {
        self.doublings = 0;
        self.smoothed = Some(match self.smoothed {
            None => (time, time / 2),
            Some((mean, variation)) => ((mean * 7 + time) / 8, (variation * 3 + mean.abs_diff(time)) / 4),
        });
    }

    /// Takes in that a chunk sent at `sent_at` was waited for in vain. Chunks that were under way together count once.
    pub(crate) fn timed_out(&mut self, now: Instant, sent_at: Instant) {
        if sent_at >= self.doubled_at {
            self.doublings += 1;
            self.doubled_at = now;
        }
    }

    /// How long to wait for a chunk that has timed out `timeouts` times.
    pub(crate) fn timeout(&self, timeouts: u32) -> Duration {
        let first = self.smoothed.map_or(Self::INITIAL, |(mean, variation)| mean + 4 * variation);
        let doubled = first.max(Self::MIN).saturating_mul(1 << timeouts.max(self.doublings).min(16));
        doubled.min(Self::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_follows_samples_and_doubles_up_to_the_limit() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.timeout(0), Duration::from_millis(200));
        for _ in 0..100 {
            rtt.sample(Duration::from_millis(30));
        }
        let settled = rtt.timeout(0);
        assert!((30..32).contains(&settled.as_millis()), "{settled:?}");
        assert_eq!(rtt.timeout(1), 2 * settled);
        assert_eq!(rtt.timeout(60), Duration::from_millis(500));
        for _ in 0..100 {
            rtt.sample(Duration::from_micros(50));
        }
        assert_eq!(rtt.timeout(0), Duration::from_millis(20));
    }

    #[test]
    fn waits_in_vain_double_the_next_waits_until_there_is_a_sample() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let mut rtt = RttEstimator::default();
        rtt.sample(Duration::from_millis(10));
        let first = rtt.timeout(0);
        rtt.timed_out(at(100), at(10));
        assert_eq!(rtt.timeout(0), 2 * first);
        rtt.timed_out(at(101), at(20)); // under way with the other
        assert_eq!(rtt.timeout(0), 2 * first);
        rtt.timed_out(at(300), at(100));
        assert_eq!((rtt.timeout(0), rtt.timeout(1)), (4 * first, 4 * first));
        assert_eq!(rtt.timeout(3), 8 * first);
        rtt.sample(Duration::from_millis(10));
        assert!(rtt.timeout(0) <= first);
    }
}
