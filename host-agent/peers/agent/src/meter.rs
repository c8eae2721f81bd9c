//! What passes a peer's port down, measured by the updates that arrive: no frame is sent for it.

use std::time::Duration;

use crate::message::Sample;

/// A pause above this ends a sample: the port was idle.
const PAUSE: Duration = Duration::from_millis(50);
/// The length of a sample.
const SAMPLE: Duration = Duration::from_millis(200);
/// Samples that wait to be told; the last ones are the best.
const MOST: usize = 64;

/// Adds up what arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// When the sample that goes on began, and when something arrived last.
    times: Option<(Duration, Duration)>,
    bits: f64,
    is_full: bool,
    samples: Vec<Sample>,
}

impl Meter {
    /// A frame of so many bytes is here. `is_full`: it was marked.
    pub fn arrived(&mut self, bytes: usize, is_full: bool, now: Duration) {
        match &mut self.times {
            Some((_, last)) if now.saturating_sub(*last) <= PAUSE => {
                *last = now;
                self.bits += 8.0 * bytes as f64;
                self.is_full |= is_full;
            }
            // The first one took no time that is known.
            _ => self.begin(now),
        }
        self.end_if_long(now);
    }

    /// Something that was to arrive did not.
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

    /// Adds a sample that was taken elsewhere.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
        let surplus = self.samples.len().saturating_sub(MOST);
        self.samples.drain(..surplus);
    }

    /// What was measured since it was asked last.
    pub fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }
}
