//! Networks of unequal links and switches: rates drawn uniformly from ranges, by seed.

use std::fmt;
use std::str::FromStr;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{NodeKind, Topology};
use crate::units::Rate;

/// A range of rates in bit/s, both ends possible; written `10Mbps..30Mbps`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRange {
    low_bps: f64,
    high_bps: f64,
}

impl FromStr for RateRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = |problem: &str| format!("{problem}; write it like 10Mbps..30Mbps");
        let (low, high) = text.split_once("..").ok_or_else(|| fail("this is not a range of rates"))?;
        let (low_bps, high_bps) = (low.parse::<Rate>()?.0, high.parse::<Rate>()?.0);
        if low.trim().parse::<f64>().is_ok() != high.trim().parse::<f64>().is_ok() {
            return Err(fail("one end has a unit, the other has none"));
        }
        if !(low_bps > 0.0 && low_bps <= high_bps) {
            return Err(fail("the lower end must be positive and not above the upper one"));
        }
        Ok(RateRange { low_bps, high_bps })
    }
}

impl fmt::Display for RateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}..{:?}", self.low_bps, self.high_bps)
    }
}

impl RateRange {
    /// Returns a rate of the range, to four digits of its upper end: documents stay readable, and 0 is never
    /// drawn.
    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        let step = 10f64.powf(self.high_bps.log10().floor() - 3.0);
        let drawn = (rng.random_range(self.low_bps..=self.high_bps) / step).round() * step;
        drawn.clamp(self.low_bps, self.high_bps)
    }
}

/// Rates to draw; `None` leaves them unchanged.
///
/// The InArt paper's heterogeneous networks (§5.3) are 10..30 Mbps on the links between switches (reading H2)
/// or on those and the hosts' own links (H1). Links bind with 2..6 Mbps between switches and 4..14 Mbps of
/// aggregation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ranges {
    /// B(e) of the links between switches.
    pub fabric: Option<RateRange>,
    /// B(e) of the links that end at a host.
    pub access: Option<RateRange>,
    /// C(v) of the switches that add up.
    pub aggregation: Option<RateRange>,
}

impl Topology {
    /// Returns the network with new random rates for those that `ranges` names. Each kind of rate has a
    /// stream of its own, so drawing one more changes neither the others nor the places of the hosts.
    pub fn with_drawn_rates(&self, ranges: &Ranges, seed: u64) -> Topology {
        let mut drawn = self.clone();
        let stream = |number| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(number);
            rng
        };
        if let Some(range) = ranges.aggregation {
            let mut rng = stream(1);
            for node in drawn.nodes.iter_mut().filter(|node| node.aggregation_bps > 0.0) {
                node.aggregation_bps = range.draw(&mut rng);
            }
        }
        let (mut fabric, mut access) = (stream(2), stream(3));
        for link in &mut drawn.links {
            let inner = link.ends.iter().all(|&end| self.node(end).kind == NodeKind::Switch);
            let (range, rng) =
                if inner { (ranges.fabric, &mut fabric) } else { (ranges.access, &mut access) };
            if let Some(range) = range {
                link.rates_bps = [range.draw(rng); 2];
            }
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_as_people_write_them() {
        let range: RateRange = "2Mbps..6 Mbps".parse().unwrap();
        assert_eq!((range.low_bps, range.high_bps), (2e6, 6e6));
        for bad in ["", "2Mbps", "6Mbps..2Mbps", "0..5", "-1..5", "2..6Mbps", "2Mbps..", "nan..5"] {
            assert!(bad.parse::<RateRange>().is_err(), "{bad}");
        }
        // Rates below a bit per second stay inside their range too.
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let tiny = RateRange { low_bps: 1.23456e-9, high_bps: 1.23457e-9 };
        assert!((tiny.low_bps..=tiny.high_bps).contains(&tiny.draw(&mut rng)));
    }
}
