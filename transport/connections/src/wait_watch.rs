//! Schedule of reports about a process's waits: soon, and then every few seconds.

use std::time::{Duration, Instant};

/// Time before a process prints which others are missing, and between repeats.
const FIRST: Duration = Duration::from_secs(2);
const MEETING: Duration = Duration::from_secs(5);
/// Time without progress of the training before a process prints the reason, and between repeats.
const TRAINING: Duration = Duration::from_secs(10);

/// Decides when a wait is reported: before the training after 2 s and then every 5 s, in it every 10 s.
#[derive(Debug)]
pub struct WaitWatch<W> {
    waits: Option<W>,
    since: Instant,
    said: Option<Instant>,
}

impl<W> Default for WaitWatch<W> {
    fn default() -> Self {
        WaitWatch { waits: None, since: Instant::now(), said: None }
    }
}

impl<W: PartialEq> WaitWatch<W> {
    /// Returns for how long the last waits have not changed.
    pub fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// Returns how long the process has waited for the same others, if that is to be reported now.
    /// `is_meeting`: before the training.
    pub fn due(&mut self, waits: Option<W>, is_meeting: bool) -> Option<Duration> {
        if waits != self.waits {
            *self = WaitWatch { waits, ..WaitWatch::default() };
        }
        self.waits.as_ref()?;
        let (first, pause) = if is_meeting { (FIRST, MEETING) } else { (TRAINING, TRAINING) };
        let at = self.said.map_or(self.since + first, |said| said + pause);
        let now = Instant::now();
        (now >= at).then(|| {
            self.said = Some(now);
            now - self.since
        })
    }
}
