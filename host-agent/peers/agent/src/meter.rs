//! Measures the receive rate of a peer's port by the updates that arrive, without frames of its own.

use std::time::Duration;

use crate::message::Sample;

/// A longer pause ends a sample: the port was idle.
const PAUSE: Duration = Duration::from_millis(50);
/// Length of a sample.
const SAMPLE: Duration = Duration::from_millis(200);
/// Most samples that wait to be reported; the newest are kept.
const MOST: usize = 64;

/// Sums what arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// Start of the current sample, and time of the last arrival.
    times: Option<(Duration, Duration)>,
    bits: f64,
    is_full: bool,
    samples: Vec<Sample>,
}

impl Meter {
    /// Takes a frame of `bytes` bytes. `is_full`: the frame was marked.
    pub fn arrived(&mut self, bytes: usize, is_full: bool, now: Duration) {
        match &mut self.times {
            Some((_, last)) if now.saturating_sub(*last) <= PAUSE => {
                *last = now;
                self.bits += 8.0 * bytes as f64;
                self.is_full |= is_full;
            }
            // The duration of the first frame is unknown.
            _ => self.begin(now),
        }
        self.end_if_long(now);
    }

    /// Takes note that an expected frame did not arrive.
    pub fn lost(&mut self) {
        self.is_full = true;
    }

    fn begin(&mut self, now: Duration) {
        (self.times, self.bits, self.is_full) = (Some((now, now)), 0.0, false);
    }

    fn end_if_long(&mut self, now: Duration) {
        let Some((began, _)) = self.times.filter(|(began, _)| now.saturating_sub(*began) >= SAMPLE) else {
            return;
        };
        let seconds = now.saturating_sub(began).as_secs_f64();
        self.add(Sample { is_up: false, bits: self.bits, seconds, is_full: self.is_full });
        self.begin(now);
    }

    /// Adds a sample measured elsewhere.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
        let surplus = self.samples.len().saturating_sub(MOST);
        self.samples.drain(..surplus);
    }

    /// Returns the samples since the last call.
    pub fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }
}
