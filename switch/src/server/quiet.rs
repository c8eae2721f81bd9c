//! Reports of repeated events: the first immediately, later ones periodically with a count.

use std::time::{Duration, Instant};

/// Interval between two reports of one kind.
const PAUSE: Duration = Duration::from_secs(10);

/// Occurrences since the last report.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    reported: Option<Instant>,
    count: u64,
}

impl Quiet {
    /// Counts an occurrence. Returns the count since the last report, if it must be reported again.
    pub fn happens(&mut self, now: Instant) -> Option<u64> {
        self.count += 1;
        let may = self.reported.is_none_or(|last| now.saturating_duration_since(last) >= PAUSE);
        may.then(|| {
            self.reported = Some(now);
            std::mem::take(&mut self.count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_often_is_reported_at_once_and_then_with_its_count() {
        let (mut quiet, start) = (Quiet::default(), Instant::now());
        assert_eq!(quiet.happens(start), Some(1));
        for ms in 0..1000 {
            assert_eq!(quiet.happens(start + Duration::from_millis(ms)), None);
        }
        assert_eq!(quiet.happens(start + PAUSE), Some(1001));
        assert_eq!(quiet.happens(start + PAUSE), None);
    }
}
