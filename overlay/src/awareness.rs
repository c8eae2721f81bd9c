//! The network-awareness table: rates as chunks have measured them in passing (NETSTORM, Section V and
//! Eq. 14).

use std::collections::VecDeque;

use crate::network::{ArcId, Overlay, Rates};
use crate::rounds::Sample;
use crate::scheme::Scheme;

/// A link's entry is the mean of so many samples, its last ones.
const SAMPLES: usize = 4;

/// What the scheduler believes of every directed link.
#[derive(Debug, Clone)]
pub struct Table {
    prior_bps: f64,
    samples: Vec<VecDeque<f64>>,
    /// What is taken off the time of a sample, by directed link, in seconds.
    delays_s: Vec<f64>,
}

impl Table {
    /// Without samples. A sample is size over time from the first bit's leaving to the last one's arrival. As
    /// in the paper the delay is in it; ours takes it off, as a connection's least round-trip time tells it.
    pub(crate) fn new(overlay: &Overlay, scheme: Scheme, prior_bps: f64) -> Self {
        let delay = |arc| if scheme == Scheme::Inart { overlay.delay_seconds(arc) } else { 0.0 };
        let delays_s: Vec<f64> = overlay.arcs().map(delay).collect();
        Table { prior_bps, samples: vec![VecDeque::new(); delays_s.len()], delays_s }
    }

    /// Without samples, for samples whose time is from the first bit's arrival on.
    pub fn received(overlay: &Overlay, prior_bps: f64) -> Self {
        let delays_s: Vec<f64> = overlay.arcs().map(|_| 0.0).collect();
        Table { prior_bps, samples: vec![VecDeque::new(); delays_s.len()], delays_s }
    }

    /// Takes one sample of a directed link.
    pub fn learn_one(&mut self, arc: ArcId, bits: f64, seconds: f64) {
        self.learn(&[Sample { arc, bits, seconds }]);
    }

    /// Takes a round's samples in their order.
    pub(crate) fn learn(&mut self, samples: &[Sample]) {
        for sample in samples {
            let seconds = sample.seconds - self.delays_s[sample.arc.index()];
            let last = &mut self.samples[sample.arc.index()];
            if last.len() == SAMPLES {
                last.pop_front();
            }
            last.push_back(sample.bits / seconds.max(f64::MIN_POSITIVE));
        }
    }

    /// The table: the prior for links with fewer samples.
    pub fn rates(&self) -> Rates {
        let entry = |last: &VecDeque<f64>| match last.len() {
            SAMPLES => last.iter().sum::<f64>() / SAMPLES as f64,
            _ => self.prior_bps,
        };
        Rates(self.samples.iter().map(entry).collect())
    }
}
