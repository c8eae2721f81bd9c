//! The network-awareness table: rates as chunks have measured them in passing (NETSTORM, Section V and
//! Eq. 14).

use std::collections::VecDeque;

use crate::rounds::Sample;
use crate::scheme::Scheme;
use inart_topologies::sites::{ArcId, Overlay, Rates};

/// How links are measured, and how often a plan is remade by what is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// A plan is remade before the first round that begins after each multiple of this time, in seconds;
    /// before each round if it is 0 (UPDATE_TIME).
    pub update_s: f64,
    /// A link's entry is the mean of its last so many samples, at least 1; with fewer samples it is the
    /// prior (PROBE_CHUNK_NUM).
    pub samples: usize,
    /// Chunks of fewer bytes are no samples (PROBE_CHUNK_SIZE).
    pub least_bytes: u64,
}

impl Default for Tuning {
    /// Before each round, by the last four chunks of any length.
    fn default() -> Self {
        Tuning { update_s: 0.0, samples: 4, least_bytes: 0 }
    }
}

impl Tuning {
    /// Whether a plan that was made at a time is to be made anew.
    pub fn is_due(&self, made_s: f64, now_s: f64) -> bool {
        self.update_s <= 0.0 || (now_s / self.update_s).floor() > (made_s / self.update_s).floor()
    }
}

/// What the scheduler believes of every directed link.
#[derive(Debug, Clone)]
pub struct Table {
    prior_bps: f64,
    most: usize,
    least_bits: f64,
    samples: Vec<VecDeque<f64>>,
    /// What is taken off the time of a sample, by directed link, in seconds.
    delays_s: Vec<f64>,
}

impl Table {
    /// Without samples. A sample is size over time from the first bit's leaving to the last one's arrival. As
    /// in the NETSTORM paper the delay is in it; ours takes it off, as a connection's least round-trip time
    /// tells it.
    pub fn new(overlay: &Overlay, scheme: Scheme, prior_bps: f64, tuning: &Tuning) -> Self {
        let delay = |arc| if scheme == Scheme::Optimized { overlay.delay_seconds(arc) } else { 0.0 };
        Table::with(overlay.arcs().map(delay).collect(), prior_bps, tuning)
    }

    /// Without samples, for samples whose time is from the first bit's arrival on.
    pub fn received(overlay: &Overlay, prior_bps: f64) -> Self {
        Table::with(overlay.arcs().map(|_| 0.0).collect(), prior_bps, &Tuning::default())
    }

    fn with(delays_s: Vec<f64>, prior_bps: f64, tuning: &Tuning) -> Self {
        Table {
            prior_bps,
            most: tuning.samples.max(1),
            least_bits: tuning.least_bytes as f64 * 8.0,
            samples: vec![VecDeque::new(); delays_s.len()],
            delays_s,
        }
    }

    /// Takes one sample of a directed link.
    pub fn learn_one(&mut self, arc: ArcId, bits: f64, seconds: f64) {
        self.learn(&[Sample { arc, bits, seconds }]);
    }

    /// Takes a round's samples in their order.
    pub fn learn(&mut self, samples: &[Sample]) {
        for sample in samples.iter().filter(|sample| sample.bits >= self.least_bits) {
            let seconds = sample.seconds - self.delays_s[sample.arc.index()];
            let last = &mut self.samples[sample.arc.index()];
            if last.len() == self.most {
                last.pop_front();
            }
            last.push_back(sample.bits / seconds.max(f64::MIN_POSITIVE));
        }
    }

    /// The table: the prior for links with fewer samples.
    pub fn rates(&self) -> Rates {
        let entry = |last: &VecDeque<f64>| match last.len() == self.most {
            true => last.iter().sum::<f64>() / self.most as f64,
            false => self.prior_bps,
        };
        Rates(self.samples.iter().map(entry).collect())
    }
}
