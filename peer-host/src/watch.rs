//! Says for whom a process waits: at once, and then every few seconds.

use std::time::{Duration, Instant};

/// A process waits for this time before it prints which others are missing, and then again.
const FIRST: Duration = Duration::from_secs(2);
const MEETING: Duration = Duration::from_secs(5);
/// In the training, it waits for this time without progress before it prints why, and then again.
const TRAINING: Duration = Duration::from_secs(10);

/// What is waited for, since when, and when that was said.
#[derive(Debug)]
pub(crate) struct Watch<W> {
    waits: Option<W>,
    since: Instant,
    said: Option<Instant>,
}

impl<W: PartialEq> Watch<W> {
    pub fn new() -> Self {
        Watch { waits: None, since: Instant::now(), said: None }
    }

    /// For how long the last waits have not changed.
    pub fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// For how long it has been waited for the same, if it is time to say so. `is_meeting`: before the
    /// training.
    pub fn due(&mut self, waits: Option<W>, is_meeting: bool) -> Option<Duration> {
        if waits != self.waits {
            *self = Watch { waits, since: Instant::now(), said: None };
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
