//! Rates of links between sites.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use inart_overlay::{ArcId, Overlay};

use crate::namespace::Namespace;
use crate::shaping::{RateFollower, Rates, bucket};

/// What waits for longer at the end of a link is dropped, in seconds.
const QUEUE_SECONDS: f64 = 0.05;

/// Changes rates when the traces say so, whose time 0 was at `began`.
pub fn follow(overlay: Arc<Overlay>, sites: Vec<Namespace>, began: Instant) -> io::Result<RateFollower> {
    let names = overlay.sites().to_vec();
    RateFollower::start(OfSites(overlay), names.into_iter().zip(sites).collect(), began)
}

struct OfSites(Arc<Overlay>);

impl Rates for OfSites {
    fn next_change(&self, after_s: f64) -> Option<f64> {
        self.0.next_change(after_s)
    }

    fn script(&self, site: usize, now_s: f64) -> String {
        let arcs = self.0.arcs().filter(|&arc| self.0.ends(arc).0.index() == site);
        arcs.map(|arc| rate_command("change", &self.0, arc, now_s)).collect()
    }
}

/// A line for `tc`, which adds or changes the rate of one end of a link.
pub(super) fn rate_command(verb: &str, overlay: &Overlay, arc: ArcId, now_s: f64) -> String {
    let bps = |at_s: f64| overlay.rates_at(at_s).of(arc);
    bucket(verb, &format!("l{}", arc.index() / 2), bps(0.0), bps(now_s), QUEUE_SECONDS)
}
