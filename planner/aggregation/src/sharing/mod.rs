//! The best rates if all switches have equal capacity and links are ignored: how many switches each server
//! has alone, and which ones several servers share. On homogeneous fat-trees this is the optimum itself.
//!
//! A server that receives floor(B'/F) units leaves D(F) = W - floor(B'/F) to be *saved*; a group of h workers
//! saves h - 1 and spends F h of its switch's C, so a separate switch saves at most G(F) - 1 with G(F) =
//! floor(C/F). D and G are constant between neighboring C/g and B'/n: a *cell* ([`cells`]), whose rate is at
//! most that of its upper end. For one cell per server, [`bins`] decides whether the switches suffice. The
//! choices of cells are processed in the order of their rates, so the first that can be packed at its upper
//! ends is the best of those; then the better ones, which cannot, are searched for the best rate inside their
//! cells. `docs/explanation/bounds.md` has the proof.

mod bins;
mod cells;
mod grouping;
#[cfg(test)]
mod tests;

use crate::model::Model;
use bins::{Bins, Packed};
use cells::{Choice, Market};
pub(crate) use grouping::Grouping;

/// Limit on packings of a shared switch in sum, and for one choice at its upper ends.
const LOOKS: usize = 5_000_000;
const LOOKS_FOR_ONE: usize = 4_000;
/// Successive lower limits of the listed choices, as shares of the distance from the known bound to the known
/// rate.
const PARTS: [f64; 8] = [0.2, 0.4, 0.5, 0.55, 0.6, 0.7, 0.85, 1.0];
/// Relative difference of rates that count as equal. The bound stays half of it above the supremum of all
/// choices.
const HAIR: f64 = 4e-10;

/// Known bounds on the best rates with free shares.
#[derive(Debug, Clone)]
pub(crate) struct Sharing {
    /// Upper bound on every plan's rate, bit/s.
    pub bound_bps: f64,
    /// The best packing, if it is above the rate already known.
    pub best: Option<Grouping>,
}

/// Looks for rates whose sum is above `known`, and for a proof that none exist, given that none is above
/// `top`. `None` if switches differ or have no capacity, or without a result.
pub(crate) fn solve(model: &Model<'_>, known: f64, top: f64, time_left: &dyn Fn() -> f64) -> Option<Sharing> {
    let capacity = alike(model)?;
    let market = Market::new(model, capacity)?;
    let mut search = Search { switches: model.aggregators.len(), capacity, looks: LOOKS, time_left };
    // The fewer choices the better: nearest to the bound first.
    let mut last = None;
    for part in PARTS {
        let least = known.max(top - part * (top - known)) * (1.0 + HAIR);
        let Some(mut choices) = market.choices(least).filter(|_| !search.over()) else { break };
        if let Some((rate, best)) = search.at_upper_ends(&mut choices) {
            return Some(search.inside(&choices, rate, Some(best)));
        }
        last = Some((choices, least));
    }
    let (choices, least) = last?;
    Some(search.inside(&choices, least, None))
}

struct Search<'t> {
    switches: usize,
    capacity: f64,
    looks: usize,
    time_left: &'t dyn Fn() -> f64,
}

impl Search<'_> {
    fn bins<'c>(&self, choice: &'c Choice) -> Bins<'c> {
        Bins::new(choice, self.switches, self.capacity)
    }

    fn over(&self) -> bool {
        self.looks == 0 || (self.time_left)() <= 0.0
    }

    /// Sorts choices by falling rate; the first that can be packed at its upper ends.
    fn at_upper_ends(&mut self, choices: &mut [Choice]) -> Option<(f64, Grouping)> {
        choices.sort_by(|a, b| b.most.total_cmp(&a.most));
        for choice in choices.iter().filter(|choice| choice.most == choice.rate) {
            if self.over() {
                break;
            }
            let part = LOOKS_FOR_ONE.min(self.looks);
            let mut left = part;
            let packed = self.bins(choice).above(choice.rate * (1.0 - 0.1 * HAIR), &mut left);
            self.looks -= part - left;
            if let Packed::At(rate, grouping) = packed {
                return Some((rate, grouping));
            }
        }
        None
    }

    /// Looks for a better one inside the cells of each choice. `choices` are all that can have a rate above
    /// `rate`.
    fn inside(&mut self, choices: &[Choice], mut rate: f64, mut best: Option<Grouping>) -> Sharing {
        let mut bound: f64 = 0.0;
        for choice in choices {
            while choice.most > rate * (1.0 + HAIR) {
                let packed = match self.over() {
                    true => Packed::Unknown,
                    false => self.bins(choice).above(rate * (1.0 + HAIR), &mut self.looks),
                };
                match packed {
                    Packed::At(found, grouping) => (rate, best) = (found, Some(grouping)),
                    Packed::Never => break,
                    Packed::Unknown => {
                        bound = bound.max(choice.most);
                        break;
                    }
                }
            }
        }
        Sharing { bound_bps: bound.max(rate * (1.0 + 1.5 * HAIR)), best }
    }
}

/// Returns the common capacity of all aggregating switches; `None` if they differ.
fn alike(model: &Model<'_>) -> Option<f64> {
    let mut capacities = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v)));
    let first = capacities.next()?;
    capacities.all(|capacity| capacity == first).then_some(first)
}
