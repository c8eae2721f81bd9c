//! Change of a link's rate over time.

/// Rates of one direction that follow each other: the first holds from 0, the last one holds on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Duration of each rate, in seconds; above 0.
    pub every_seconds: f64,
    /// bit/s, each above 0; at least one.
    pub rates_bps: Vec<f64>,
}

impl Trace {
    /// Returns the rate at a time, in bit/s.
    pub fn rate_at(&self, seconds: f64) -> f64 {
        let step = (seconds / self.every_seconds).max(0.0) as usize;
        self.rates_bps[step.min(self.rates_bps.len() - 1)]
    }

    /// Returns the next time at which the rate changes, in seconds from the start; `None` if it never does
    /// again.
    pub fn next_change(&self, after_seconds: f64) -> Option<f64> {
        let step = (after_seconds / self.every_seconds).floor().max(0.0) + 1.0;
        // A time that is a step's own start counts as in it.
        let next = step * self.every_seconds;
        let next = if next > after_seconds { next } else { next + self.every_seconds };
        (step < self.rates_bps.len() as f64).then_some(next)
    }
}
