//! One direction of a peer's port: chunks queue; messages, which are short, pass between their frames.

use inart_topologies::Trace;

/// One direction.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    bps: f64,
    trace: Option<Trace>,
    /// Time at which the queue is empty.
    busy_ns: u64,
}

/// Returns seconds as nanoseconds, saturating.
pub(crate) fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).ceil() as u64
}

impl Port {
    pub fn new(bps: f64, trace: Option<Trace>) -> Self {
        Port { bps, trace, busy_ns: 0 }
    }

    /// Returns the least of its rates at any time, in bit/s.
    pub fn least_bps(&self) -> f64 {
        let traced = self.trace.iter().flat_map(|trace| &trace.rates_bps).copied();
        if self.trace.is_some() { traced.fold(f64::INFINITY, f64::min) } else { self.bps }
    }

    /// Returns the queue's delay at a time.
    pub fn queue_ns(&self, now_ns: u64) -> u64 {
        self.busy_ns.saturating_sub(now_ns)
    }

    /// Adds a chunk that arrives at a time. Returns when it has passed.
    pub fn chunk(&mut self, now_ns: u64, bits: f64) -> u64 {
        self.busy_ns = self.end_ns(self.busy_ns.max(now_ns), bits);
        self.busy_ns
    }

    /// Adds a message that arrives at a time. Returns when it has passed. Chunks behind it are delayed by as
    /// much.
    pub fn message(&mut self, now_ns: u64, bits: f64) -> u64 {
        let end_ns = self.end_ns(now_ns, bits);
        let takes_ns = end_ns.saturating_sub(now_ns);
        self.busy_ns = self.busy_ns.max(now_ns).saturating_add(takes_ns);
        end_ns
    }

    fn end_ns(&self, from_ns: u64, mut bits: f64) -> u64 {
        let Some(trace) = &self.trace else { return from_ns.saturating_add(ns(bits / self.bps)) };
        let mut at_s = from_ns as f64 * 1e-9;
        let mut passed_ns = from_ns;
        loop {
            let bps = trace.rate_at(at_s);
            let left_s = bits / bps;
            match trace.next_change(at_s) {
                Some(change_s) if change_s - at_s < left_s => {
                    bits -= bps * (change_s - at_s);
                    at_s = change_s;
                    passed_ns = ns(change_s);
                }
                _ => return passed_ns.saturating_add(ns(left_s)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_in_flight_continue_at_the_current_rate() {
        let trace = Trace { every_seconds: 1.0, rates_bps: vec![10.0, 2.0, 4.0] };
        let mut port = Port::new(10.0, Some(trace));
        // 5 bits until 1 s, 2 until 2 s, and 5 at 4 bit/s.
        assert_eq!(port.chunk(500_000_000, 12.0), 3_250_000_000);
        assert_eq!(port.queue_ns(3_000_000_000), 250_000_000);
        // A message does not wait, and delays chunks.
        assert_eq!(port.message(3_000_000_000, 1.0), 3_250_000_000);
        assert_eq!(port.chunk(3_000_000_000, 4.0), 4_500_000_000);
        assert!((port.least_bps() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_tiny_rate_saturates() {
        assert_eq!(Port::new(1e-320, None).chunk(5, 1e9), u64::MAX);
    }
}
