//! Column generation: the program over all arborescences, solved over those that its prices request.

use super::columns::{Column, Direction, Graph};
use super::master::{Master, Optimum};
use super::start;

/// Gap between the rate and its proven bound at which the rate counts as optimal.
const GAP: f64 = 1e-7;
/// Least gain per unit for which a column is added.
const WORTH: f64 = 1e-9;
/// Weight of the best bound's prices in the prices at which columns are sought; the rest comes from the
/// restricted program's (Wentges 1997). On their own, the latter oscillate.
const SMOOTHING: f64 = 0.5;
/// Maximum number of rounds; the bound holds after any number of rounds.
const ROUNDS: usize = 5000;
/// The search for shallower arborescences ends with a round that reduces their height by less than this
/// fraction, or after this many simplex iterations.
const SHALLOWER: f64 = 0.005;
const SHALLOW_ITERATIONS: i64 = 2000;
/// Least reduction of the sum of weight times height per unit of a shallower arborescence.
const SHALLOW_WORTH: f64 = 1e-5;

/// Arborescences with their weights, in the graph's unit.
pub(crate) struct Weighted {
    pub columns: Vec<(Column, f64)>,
    /// Weight of all in-arborescences.
    pub rate: f64,
    /// Upper bound on the rate of any packing.
    pub bound: f64,
}

/// Bound from any prices y of arcs: a unit of rate costs at least mu(y), the cheapest in- and
/// out-arborescence of one root together, so rate * mu(y) <= sum of capacity * y.
#[derive(Debug)]
struct Bound {
    value: f64,
    /// Prices of the bound, scaled so that mu(y) = 1.
    prices: Vec<f64>,
}

impl Bound {
    /// Updates the bound from `prices`; `offers` has the cheapest columns at these prices, by root.
    fn improve(&mut self, graph: &Graph, prices: &[f64], offers: &[(Column, f64)]) {
        let least = offers.chunks(2).map(|both| both.iter().map(|(_, cost)| cost).sum());
        let least: f64 = least.fold(f64::INFINITY, f64::min);
        let paid: f64 = graph.capacities.iter().zip(prices).map(|(capacity, price)| capacity * price).sum();
        let value = paid / least;
        if value < self.value {
            *self = Bound { value, prices: prices.iter().map(|price| price / least).collect() };
        }
    }
}

/// Computes a packing of the highest rate, with as little height as the rounds find.
pub(crate) fn solve(graph: &Graph) -> Result<Weighted, String> {
    let mut master = Master::new(graph)?;
    for column in start::columns(graph) {
        master.add(column)?;
    }
    let mut bound = Bound { value: f64::INFINITY, prices: Vec::new() };
    // At equal prices: all capacity over the arcs of a tree, which is the optimum where no cut is narrow.
    let equal = vec![1.0; graph.arcs.len()];
    bound.improve(graph, &equal, &graph.offers(&equal, 0.0));
    let mut optimum = master.solve()?;
    for _ in 0..ROUNDS {
        let proven = |bound: &Bound| optimum.rate >= bound.value * (1.0 - GAP);
        if proven(&bound) || !add_columns(graph, &mut master, &optimum, &mut bound)? || proven(&bound) {
            break;
        }
        optimum = master.solve()?;
        // A basis that HiGHS leaves as it is, is optimal up to its rounding errors.
        if optimum.iterations == 0 {
            break;
        }
    }
    // A packing that HiGHS cannot make shallower is kept.
    let weights = shallow(graph, &mut master, &optimum).unwrap_or(optimum).weights;
    let columns: Vec<(Column, f64)> = master.columns().cloned().zip(weights).collect();
    let ins = columns.iter().filter(|(column, _)| column.direction == Direction::In);
    Ok(Weighted { rate: ins.map(|(_, weight)| weight).sum(), bound: bound.value, columns })
}

/// Adds the columns that the prices request; returns whether there are any.
fn add_columns(
    graph: &Graph,
    master: &mut Master<'_>,
    optimum: &Optimum,
    bound: &mut Bound,
) -> Result<bool, String> {
    let smoothed = |(own, best): (&f64, &f64)| (1.0 - SMOOTHING) * own + SMOOTHING * best;
    let between: Vec<f64> = optimum.arcs.iter().zip(&bound.prices).map(smoothed).collect();
    // The second attempt uses the program's own prices, which request a column if one exists.
    for prices in [&between, &optimum.arcs] {
        if prices.is_empty() {
            continue;
        }
        let offers = graph.offers(prices, 0.0);
        bound.improve(graph, prices, &offers);
        let mut added = false;
        for (column, _) in offers {
            added |= master.worth(optimum, &column) > WORTH && master.add(column)?;
        }
        if added {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns a packing of the same rate and less height. The objective is the sum of weight times height, over
/// the existing columns and over more columns that are sought with the hops of parents from the root in place
/// of heights, which are not a sum over arcs.
fn shallow(graph: &Graph, master: &mut Master<'_>, optimum: &Optimum) -> Result<Optimum, String> {
    master.prefer_shallow(optimum.rate)?;
    let mut shallow = master.solve()?;
    let mut iterations = shallow.iterations;
    while iterations < SHALLOW_ITERATIONS {
        let mut added = false;
        for per_hop in [1.0, 2.0 / graph.sites as f64] {
            for (column, _) in graph.offers(&shallow.arcs, per_hop) {
                added |= master.worth(&shallow, &column) > SHALLOW_WORTH && master.add(column)?;
            }
        }
        if !added {
            break;
        }
        let before = master.height(&shallow);
        shallow = master.solve()?;
        iterations += shallow.iterations;
        if master.height(&shallow) > before * (1.0 - SHALLOWER) {
            break;
        }
    }
    Ok(shallow)
}
