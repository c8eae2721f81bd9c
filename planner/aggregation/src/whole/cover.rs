//! Free shares: the set of all rates F without the boxes that certificates refute.
//!
//! The feasible rates are down-closed, so a certificate against F refutes all of {G : G >= F}. Boxes [low,
//! high] contain the rates that are not refuted yet; the largest sum of their upper corners bounds every
//! plan's rate. The box where that is largest loses the corner above its `high` less delta, for the largest
//! delta that some certificate allows.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::prices::{Certificate, Prices};
use super::proof::{FIRST, Proof};

/// Number of shards beyond which boxes are too many.
const SHARDS: usize = 3;
/// Smallest cut of a corner as a share of a mean F_s; the search ends where a quarter of it fails.
const FINE: f64 = 0.02;
/// Looks for one certificate, and boxes.
const EACH: usize = 500;
const BOXES: usize = 40_000;

struct Region {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Sum of `high`.
    most: f64,
}

impl Ord for Region {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.total_cmp(&other.most)
    }
}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Region {}

impl Region {
    /// The part of a box that can exceed `goal`, if any.
    fn new(mut low: Vec<f64>, high: Vec<f64>, goal: f64) -> Option<Self> {
        let most: f64 = high.iter().sum();
        for (low, high) in low.iter_mut().zip(&high) {
            *low = low.max(goal - (most - high));
        }
        (most > goal && low.iter().zip(&high).all(|(low, high)| low < high)).then_some(Region {
            low,
            high,
            most,
        })
    }

    fn width(&self) -> f64 {
        self.high.iter().zip(&self.low).map(|(high, low)| high - low).fold(0.0, f64::max)
    }

    /// `delta` below the upper corner, but not below the lower one.
    fn below(&self, delta: f64) -> Vec<f64> {
        self.high.iter().zip(&self.low).map(|(high, low)| (high - delta).max(*low)).collect()
    }

    /// Returns the region without {F >= corner}, in disjoint parts.
    fn without(&self, corner: &[f64], goal: f64) -> impl Iterator<Item = Region> {
        (0..corner.len()).filter_map(move |s| {
            let (mut low, mut high) = (self.low.clone(), self.high.clone());
            low[..s].copy_from_slice(&corner[..s]);
            high[s] = corner[s];
            Region::new(low, high, goal)
        })
    }
}

/// A certificate with the prices and rates it was made from.
struct Known {
    certificate: Certificate,
    prices: Prices,
    sending: Vec<f64>,
}

/// Returns an upper bound on the sum of F_s, given that none exceeds `most[s]` and the sum not `bound`.
pub(super) fn bound(proof: &mut Proof<'_, '_, '_>, most: &[f64], goal: f64, bound: f64) -> f64 {
    let shards = most.len();
    if shards > SHARDS {
        return bound;
    }
    let high = most.iter().map(|most| most.min(bound)).collect();
    let mut regions: BinaryHeap<Region> = Region::new(vec![0.0; shards], high, goal).into_iter().collect();
    let mut known: Vec<Known> = Vec::new();
    let mut best = bound;
    for _ in 0..BOXES {
        let Some(region) = regions.pop() else { return goal };
        best = best.min(region.most);
        if proof.ended() {
            break;
        }
        // Parts far above the bound are removed in one cut.
        let fine = (FINE * best).max(region.most - bound * (1.0 + FINE)) / shards as f64;
        let Some(delta) = cut(proof, &mut known, &region, fine.min(region.width())) else { break };
        regions.extend(region.without(&region.below(delta), goal));
    }
    best
}

/// Returns how far below its upper corner a box can be refuted; `None` if a quarter of `fine` is too far.
fn cut(proof: &mut Proof<'_, '_, '_>, known: &mut Vec<Known>, region: &Region, fine: f64) -> Option<f64> {
    let refutes = |known: &Known, delta: f64| known.certificate.excess(&region.below(delta)) > 0.0;
    let (mut delta, mut by) = (0.0_f64, None);
    let mut nearest = (f64::NEG_INFINITY, 0);
    for (n, one) in known.iter().enumerate() {
        let least = (1.1 * delta).max(0.25 * fine);
        let excess = one.certificate.excess(&region.below(least));
        if excess > nearest.0 {
            nearest = (excess, n);
        }
        if excess > 0.0 {
            let (mut low, mut high) = (least, region.width());
            if refutes(one, high) {
                low = high;
            }
            for _ in 0..6 {
                let middle = 0.5 * (low + high);
                if refutes(one, middle) { low = middle } else { high = middle }
            }
            (delta, by) = (low, Some(n));
        }
    }
    if let Some(n) = by {
        // The last successful certificate is tried first.
        known[..=n].rotate_right(1);
    }
    if delta >= fine {
        return Some(delta);
    }
    let mut aim = fine;
    while aim >= 0.25 * fine && aim > delta {
        let sending = region.below(aim);
        proof.last = known.get(nearest.1).map(|near| (near.prices.clone(), near.sending.clone()));
        if let Some(certificate) = proof.against(&sending, if known.is_empty() { FIRST } else { EACH }) {
            let (prices, sending) = proof.last.clone().expect("just climbed");
            known.insert(0, Known { certificate, prices, sending });
            return Some(aim);
        }
        if delta > 0.0 {
            break;
        }
        aim *= 0.5;
    }
    (delta > 0.0).then_some(delta)
}
