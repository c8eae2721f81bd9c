//! Column generation: the program over all arborescences, solved over those that its prices ask for.

use super::columns::{Column, Direction, Graph};
use super::master::{Master, Optimum};
use super::start;

/// The gap between the rate and its proven bound at which the rate counts as the optimum.
const GAP: f64 = 1e-7;
/// A column is worth adding if a unit of it adds more than this.
const WORTH: f64 = 1e-9;
/// How much of the prices at which columns are looked for comes from those of the best bound so far, the rest
/// from the restricted program's (Wentges 1997): on their own, the latter jump.
const SMOOTHING: f64 = 0.5;
/// The most rounds; the bound holds whenever the rounds end.
const ROUNDS: usize = 5000;
/// The search for shallower arborescences ends with a round that takes less than this share off their height,
/// or after this many simplex iterations.
const SHALLOWER: f64 = 0.005;
const SHALLOW_ITERATIONS: i64 = 2000;
/// What a unit of a shallower arborescence has to take off the sum of weight times height.
const SHALLOW_WORTH: f64 = 1e-5;

/// Arborescences with their weights, in the graph's unit.
pub(crate) struct Weighted {
    pub columns: Vec<(Column, f64)>,
    /// The weight of all in-arborescences.
    pub rate: f64,
    /// No packing has a higher rate.
    pub bound: f64,
}

/// The bound from any prices y of arcs: a unit of rate costs at least mu(y), the cheapest in- and
/// out-arborescence of one root together, so rate * mu(y) <= sum of capacity * y.
#[derive(Debug)]
struct Bound {
    value: f64,
    /// Its prices, scaled so that mu(y) = 1.
    prices: Vec<f64>,
}

impl Bound {
    /// Takes the bound at `prices` into account; `offers` has the cheapest columns there, by root.
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

/// The packing of the highest rate and, with as little height as the rounds find, of that rate.
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
    // What HiGHS cannot make shallower stays as it is.
    let weights = shallow(graph, &mut master, &optimum).unwrap_or(optimum).weights;
    let columns: Vec<(Column, f64)> = master.columns().cloned().zip(weights).collect();
    let ins = columns.iter().filter(|(column, _)| column.direction == Direction::In);
    Ok(Weighted { rate: ins.map(|(_, weight)| weight).sum(), bound: bound.value, columns })
}

/// Adds the columns that the prices ask for; whether there are any.
fn add_columns(
    graph: &Graph,
    master: &mut Master<'_>,
    optimum: &Optimum,
    bound: &mut Bound,
) -> Result<bool, String> {
    let smoothed = |(own, best): (&f64, &f64)| (1.0 - SMOOTHING) * own + SMOOTHING * best;
    let between: Vec<f64> = optimum.arcs.iter().zip(&bound.prices).map(smoothed).collect();
    // The second time at the program's own prices, which ask for a column unless there is none.
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

/// A packing of the same rate and less height, the sum of weight times height being the objective: over the
/// columns there are, and over more that are looked for with the hops of parents from the root in place of
/// heights, which are not a sum over arcs.
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
