//! Utilization of the server's port over time.

use inart_virtual::Port;

/// Rates into the server and out of it, over windows of one length.
#[derive(Debug, Clone)]
pub struct Usage {
    every_s: f64,
    before: [f64; 2],
    rates_bps: Vec<[f64; 2]>,
}

impl Usage {
    /// Creates windows of `every_s` seconds.
    pub fn new(every_s: f64) -> Self {
        Usage { every_s, before: [0.0; 2], rates_bps: Vec::new() }
    }

    /// Advances the time to `now_s`: ends the windows until then.
    pub fn until<T>(&mut self, now_s: f64, into: &mut Port<T>, out: &mut Port<T>) {
        loop {
            let end_s = (self.rates_bps.len() + 1) as f64 * self.every_s;
            if end_s > now_s {
                return;
            }
            let passed = [into.passed(end_s), out.passed(end_s)];
            let rates = [0, 1].map(|way| (passed[way] - self.before[way]) / self.every_s);
            self.before = passed;
            self.rates_bps.push(rates);
        }
    }

    /// Returns the rates, window after window, in bit/s: into the server, and out of it.
    pub fn into_rates(self) -> Vec<[f64; 2]> {
        self.rates_bps
    }
}
