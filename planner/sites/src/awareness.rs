//! Network-awareness table: link rates measured passively from chunk transfers (NETSTORM, Section V and Eq.
//! 14).

use std::collections::VecDeque;

use crate::rounds::Sample;
use crate::scheme::Scheme;
use inart_topologies::sites::{ArcId, Overlay, Rates};

/// Measurement of links, and times of replanning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// A plan is remade before the first round that starts after each multiple of this time, in seconds;
    /// before each round if 0 (UPDATE_TIME).
    pub update_s: f64,
    /// Number of samples in the mean of a link's entry, at least 1; with fewer samples the entry is the prior
    /// (PROBE_CHUNK_NUM).
    pub samples: usize,
    /// Minimum length of a sampled chunk, in bytes (PROBE_CHUNK_SIZE).
    pub least_bytes: u64,
}

impl Default for Tuning {
    /// Returns replanning before each round, from the last four chunks of any length.
    fn default() -> Self {
        Tuning { update_s: 0.0, samples: 4, least_bytes: 0 }
    }
}

impl Tuning {
    /// Whether a plan that was made at `made_s` must be remade.
    pub fn is_due(&self, made_s: f64, now_s: f64) -> bool {
        self.update_s <= 0.0 || (now_s / self.update_s).floor() > (made_s / self.update_s).floor()
    }
}

/// Estimated rate of every directed link.
#[derive(Debug, Clone)]
pub struct Table {
    prior_bps: f64,
    most: usize,
    least_bits: f64,
    samples: Vec<VecDeque<f64>>,
    /// Time subtracted from a sample, by directed link, in seconds.
    delays_s: Vec<f64>,
}

impl Table {
    /// Creates a table without samples. A sample is size over time from the departure of the first bit to the
    /// arrival of the last one. As in the NETSTORM paper, this time includes the delay; InArt's scheme
    /// subtracts the delay, which a connection's minimum round-trip time measures.
    pub fn new(overlay: &Overlay, scheme: Scheme, prior_bps: f64, tuning: &Tuning) -> Self {
        let delay = |arc| if scheme == Scheme::Optimized { overlay.delay_seconds(arc) } else { 0.0 };
        Table::with(overlay.arcs().map(delay).collect(), prior_bps, tuning)
    }

    /// Creates a table for samples whose time starts at the arrival of the first bit.
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

    /// Adds one sample of a directed link.
    pub fn learn_one(&mut self, arc: ArcId, bits: f64, seconds: f64) {
        self.learn(&[Sample { arc, bits, seconds }]);
    }

    /// Adds a round's samples in order.
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

    /// Returns the table, with the prior for links with fewer samples.
    pub fn rates(&self) -> Rates {
        let entry = |last: &VecDeque<f64>| match last.len() == self.most {
            true => last.iter().sum::<f64>() / self.most as f64,
            false => self.prior_bps,
        };
        Rates(self.samples.iter().map(entry).collect())
    }
}
