//! Round-trip time of a result, and retransmission timeout (RFC 6298, RFC 9002).

use core::time::Duration;

/// Estimate of the round trip between a worker and a server, from keep-alives, which the server answers at
/// once.
///
/// Chunks are not used: their results include the wait for the slowest peer, which may itself wait for a
/// timer, and dependent timers would grow without bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttEstimator {
    /// Smoothed time and its variation; `None` before the first sample.
    smoothed: Option<(Duration, Duration)>,
    latest: Duration,
    /// Shortest time on the current path; `None` before its first sample.
    least: Option<Duration>,
}

impl RttEstimator {
    /// Before the first sample.
    pub(crate) const INITIAL: Duration = Duration::from_millis(25);
    const GRANULARITY: Duration = Duration::from_micros(250);
    /// Delay of frames by hosts that share processors, without a queue.
    const QUEUE: Duration = Duration::from_millis(25);
    /// The longest wait, unless the round trip is longer.
    const MAX: Duration = Duration::from_millis(250);
    /// Waits in silence before they double: peers may have repeated their requests without success.
    const EQUAL_WAITS: u32 = 3;

    /// Records the time from a keep-alive to its answer.
    pub(crate) fn sample(&mut self, time: Duration) {
        self.latest = time;
        self.least = Some(self.least.map_or(time, |least| least.min(time)));
        self.smoothed = Some(match self.smoothed {
            None => (time, time / 4),
            Some((mean, variation)) => ((mean * 7 + time) / 8, (variation * 3 + mean.abs_diff(time)) / 4),
        });
    }

    /// Returns the smoothed time; `None` before the first sample.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed.map(|(mean, _)| mean)
    }

    /// Forgets the shortest round trip, since frames take another path.
    pub(crate) fn reroute(&mut self) {
        self.least = None;
    }

    /// Returns the shortest time on the current path; `None` before its first sample.
    pub(crate) fn least(&self) -> Option<Duration> {
        self.least
    }

    /// Returns whether the latest round trip exceeds the shortest one by so much that a queue must be on the
    /// path.
    pub(crate) fn is_queued(&self) -> bool {
        self.least.is_some_and(|least| self.latest > 2 * least + Self::QUEUE)
    }

    /// Returns how long a result may take after those of later chunks have arrived (RFC 9002, 6.1.2).
    pub(crate) fn overdue(&self) -> Duration {
        self.smoothed.map_or(Self::INITIAL, |(mean, variation)| {
            mean.max(self.latest) + (2 * variation).max(mean / 8) + Self::GRANULARITY / 4
        })
    }

    /// Returns how long to wait without results, after `probes` such waits, before the oldest chunk is
    /// retransmitted (RFC 9002, 6.2).
    pub(crate) fn probe_timeout(&self, probes: u32) -> Duration {
        let first = match self.smoothed {
            Some((mean, variation)) => mean + (4 * variation).max(mean) + Self::GRANULARITY,
            None => Self::INITIAL,
        };
        match probes.saturating_sub(Self::EQUAL_WAITS).min(16) {
            0 => first,
            doublings => first.saturating_mul(1 << doublings).min(Self::MAX.max(first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn waits_double_up_to_a_limit_that_follows_the_round_trip() {
        let mut rtt = RttEstimator::default();
        assert_eq!((rtt.probe_timeout(3), rtt.probe_timeout(9)), (25 * MS, 250 * MS));
        (0..100).for_each(|_| rtt.sample(10 * MS));
        let first = rtt.probe_timeout(0);
        assert!((20 * MS..21 * MS).contains(&first), "{first:?}");
        assert_eq!((rtt.probe_timeout(3), rtt.probe_timeout(4)), (first, 2 * first));
        assert_eq!(rtt.probe_timeout(60), 250 * MS);
        assert!((11 * MS..12 * MS).contains(&rtt.overdue()) && !rtt.is_queued());
        (0..100).for_each(|_| rtt.sample(400 * MS));
        assert!(rtt.probe_timeout(60) > 800 * MS && rtt.is_queued());
    }

    #[test]
    fn a_longer_path_is_not_a_queue() {
        let mut rtt = RttEstimator::default();
        rtt.sample(MS);
        rtt.sample(60 * MS);
        assert!(rtt.is_queued());
        rtt.reroute();
        assert!(!rtt.is_queued() && rtt.least().is_none() && rtt.smoothed().is_some());
        rtt.sample(60 * MS);
        assert!(!rtt.is_queued());
        assert_eq!(rtt.least(), Some(60 * MS));
        rtt.sample(146 * MS);
        assert!(rtt.is_queued());
    }
}
