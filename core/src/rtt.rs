//! How long to wait for a result (RFC 6298).

use core::time::Duration;

/// Estimate of the time from sending a chunk to its result, which includes waiting for the slowest peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttEstimator {
    /// Smoothed time and its variation; `None` before the first sample.
    smoothed: Option<(Duration, Duration)>,
}

impl RttEstimator {
    /// Before the first sample.
    const INITIAL: Duration = Duration::from_millis(200);
    /// Hosts share processors with their peers when emulated: shorter waits would only resend what is on its way.
    const MIN: Duration = Duration::from_millis(20);
    const MAX: Duration = Duration::from_millis(500);

    /// Takes in the time of a chunk that was sent once.
    pub(crate) fn sample(&mut self, time: Duration) {
        self.smoothed = Some(match self.smoothed {
            None => (time, time / 2),
            Some((mean, variation)) => ((mean * 7 + time) / 8, (variation * 3 + mean.abs_diff(time)) / 4),
        });
    }

    /// How long to wait for a chunk that has timed out `timeouts` times.
    pub(crate) fn timeout(&self, timeouts: u32) -> Duration {
        let first = self.smoothed.map_or(Self::INITIAL, |(mean, variation)| mean + 4 * variation);
        let doubled = first.max(Self::MIN).saturating_mul(1 << timeouts.min(16));
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
}
