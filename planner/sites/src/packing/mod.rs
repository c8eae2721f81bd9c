//! All-reduce along several trees at once, at the highest total rate.
//!
//! Each chunk is reduced along an in-arborescence to a root and its sum broadcast along an out-arborescence
//! from there. With x_r the rate of the chunks of root r:
//!
//! | max sum_r x_r | |
//! |---|---|
//! | in-arborescences to r | sum of weights = x_r |
//! | out-arborescences from r | sum of weights = x_r |
//! | arc e | sum of weights of all that use it <= capacity(e) |
//!
//! This is fractional packing of spanning trees (Gabow and Manu 1998, "Packing algorithms for arborescences
//! (and spanning trees) in capacitated graphs") with both directions in one program. It is solved by column
//! generation: the arborescence that a restricted program's prices ask for is one of minimum cost (Edmonds
//! 1967). Any prices prove an upper bound (see [`generate`]).

mod arborescence;
mod columns;
mod generate;
mod master;
mod pairing;
mod start;
#[cfg(test)]
mod tests;
mod tree;

use inart_topologies::units::counted;
use std::collections::BTreeMap;

use columns::Graph;
pub(crate) use tree::PackedTree;

/// An optimum below this, in the program's unit, is solved again in a unit of its own: HiGHS's tolerances are
/// absolute.
const SMALL: f64 = 0.01;

/// Trees that fit into the capacities together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packing {
    /// Trees by root, each with at least about a millionth of the rate. At most as many smaller trees as
    /// sites and arcs together are omitted, which is the gap to the optimum.
    pub trees: Vec<PackedTree>,
    /// Sum of the trees' rates, in bit/s.
    pub rate_bps: f64,
    /// Proven upper bound on the rate of any packing, in bit/s.
    pub bound_bps: f64,
}

/// Computes the packing of the highest rate; among those of that rate one with shallow trees, as far as some
/// rounds find them. Equal arguments give equal packings.
///
/// `arcs` are (tail, head) over `0..sites`, with a rate in bit/s each. Rates of parallel arcs are summed;
/// arcs without a rate and arcs from a site to itself are ignored.
///
/// # Errors
///
/// Failures of HiGHS; fewer than two sites; rates that do not match the arcs or are not finite; an overlay
/// that is not strongly connected.
pub(crate) fn pack(sites: usize, arcs: &[(usize, usize)], rates_bps: &[f64]) -> Result<Packing, String> {
    let capacities_bps = merge(sites, arcs, rates_bps)?;
    let in_unit = |unit: f64| {
        // No tree uses an arc more than twice, and the rate is at most `unit`.
        let capacities = capacities_bps.values().map(|&rate| (rate / unit).min(2.0)).collect();
        Graph::new(sites, capacities_bps.keys().copied().collect(), capacities)
            .ok_or_else(|| String::from("the overlay is not strongly connected"))
    };
    let mut unit = single_site_bps(sites, &capacities_bps);
    if unit <= 0.0 {
        return Err(String::from("the overlay is not strongly connected"));
    }
    let mut graph = in_unit(unit)?;
    let mut weighted = generate::solve(&graph)?;
    if weighted.rate < SMALL && weighted.bound < 1.0 {
        unit *= weighted.bound;
        graph = in_unit(unit)?;
        weighted = generate::solve(&graph)?;
    }
    let mut trees = pairing::pair(&graph, &weighted);
    let positions: BTreeMap<(usize, usize), usize> = capacities_bps.keys().copied().zip(0..).collect();
    let shares = pairing::within_capacity(&graph, &trees, |tail, head| positions[&(tail, head)]);
    for (tree, share) in trees.iter_mut().zip(shares) {
        tree.rate_bps *= share * unit;
    }
    let rate_bps: f64 = trees.iter().map(|tree| tree.rate_bps).sum();
    let bound_bps = (weighted.bound.min(1.0) * unit).max(rate_bps);
    Ok(Packing { trees, rate_bps, bound_bps })
}

/// Returns the rate of each pair of sites with an arc from one to the other, in bit/s.
fn merge(
    sites: usize,
    arcs: &[(usize, usize)],
    rates_bps: &[f64],
) -> Result<BTreeMap<(usize, usize), f64>, String> {
    if sites < 2 {
        return Err(format!("{}: trees connect at least 2", counted(sites, "site")));
    }
    if arcs.len() != rates_bps.len() {
        return Err(format!("{} arcs with {} rates", arcs.len(), rates_bps.len()));
    }
    let mut merged = BTreeMap::new();
    for (&(tail, head), &rate) in arcs.iter().zip(rates_bps) {
        if tail >= sites || head >= sites {
            return Err(format!(
                "an arc from {tail} to {head} among {sites}",
                sites = counted(sites, "site")
            ));
        }
        if !rate.is_finite() {
            return Err(format!("a rate of {rate} bit/s from {tail} to {head}"));
        }
        if tail != head && rate > 0.0 {
            *merged.entry((tail, head)).or_insert(0.0) += rate;
        }
    }
    Ok(merged)
}

/// Returns the least rate that any one site can send or receive, in bit/s: an upper bound on the rate.
fn single_site_bps(sites: usize, capacities_bps: &BTreeMap<(usize, usize), f64>) -> f64 {
    let (mut out, mut into) = (vec![0.0; sites], vec![0.0; sites]);
    for (&(tail, head), rate) in capacities_bps {
        out[tail] += rate;
        into[head] += rate;
    }
    out.into_iter().chain(into).fold(f64::INFINITY, f64::min)
}
