//! Time for which a worker had something to send or to wait for.

use core::time::Duration;

use crate::Instant;

/// Accumulated busy time, and the start of the current busy period.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    since: Option<Instant>,
    total: Duration,
}

impl Busy {
    /// Starts or ends a busy period at `now`.
    pub(super) fn set(&mut self, now: Instant, is_busy: bool) {
        match (self.since, is_busy) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.total += now.since(since);
                self.since = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Returns the busy time until `now`.
    pub(super) fn total(&self, now: Instant) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_left_out() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut busy = Busy::default();
        assert_eq!(busy.total(at(5)), Duration::ZERO);
        busy.set(at(5), true);
        busy.set(at(6), true);
        assert_eq!(busy.total(at(8)), Duration::from_millis(3));
        busy.set(at(9), false);
        busy.set(at(20), false);
        busy.set(at(30), true);
        assert_eq!(busy.total(at(31)), Duration::from_millis(5));
    }
}
