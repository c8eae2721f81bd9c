//! Rates of links between sites.

use std::sync::Arc;

use inart_topologies::sites::Overlay;

use crate::machine::cables::Speeds;

/// The links of a network: a link's first end sends by the first of its two arcs.
#[derive(Debug)]
pub struct SiteRates(pub Arc<Overlay>);

impl Speeds for SiteRates {
    fn next_change(&self, after_s: f64) -> Option<f64> {
        self.0.next_change(after_s)
    }

    fn at(&self, now_s: f64) -> Vec<[f64; 2]> {
        let rates = self.0.rates_at(now_s);
        let arcs: Vec<f64> = self.0.arcs().map(|arc| rates.of(arc)).collect();
        arcs.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    }
}
