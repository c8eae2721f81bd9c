//! LP-InArt, Eq. (5) with its misprints corrected, by column and row generation over HiGHS.
//!
//! Linear because every y, z, q is multiplied by F_s (so F_s itself is a variable, and x = F / f is free, or
//! fixed by F_s = f x_s). Workers of a rack are merged. For one (s, v) the y <= z of all racks span a cone,
//! whose extreme rays aggregate some racks R' completely: z = 1, y = 1 on R', 0 elsewhere, each with its q.
//! So a *column* is a (s, v, R') with routes, or one rack's path directly to s, and y <= z needs no rows. The
//! best R' at given prices has a closed form (see [`prices`]), routes are cheapest paths, and links get rows
//! once a solution overloads them. If any path is allowed, shortest ones are tried first; the optimum over
//! them is usually proven optimal over all by its prices, else columns with detours follow.
//!
//! Eq. (5) in the InArt paper's names, and the implementation (misprints corrected, times F_s):
//!
//! | paper | here |
//! |---|---|
//! | max f; f = sum_s F_s, F_s = f x_s | `Master::sending`: F_s; x fixed: f |
//! | y^{s,w} + sum_v y_v^{s,w} = 1 | a cover row per server and rack: columns that have the rack >= F_s |
//! | y_v^{s,w} <= z_v^s | a column's weight is z_v^s, and y_v^{s,w} of its racks |
//! | sum_p q_p^{s,w} = y^{s,w}, sum_p q_p^{s,v,w} = y_v^{s,w}, sum_p q_p^{s,v} = z_v^s | a column carries its
//! routes with it |
//! | switch v: sum_s F_s sum_w y_v^{s,w} <= C(v) - c(v) | a row per switch |
//! | server s: F_s (sum_w y^{s,w} + sum_v z_v^s) <= B(s) - b(s) | a row per server, at B'(s) |
//! | link e: sum_s F_s (q over e) <= B(e) - b(e), each direction | a row once it is overloaded; a worker's
//! only uplink as f <= B(e) - b(e) |
//!
//! If results count, they load links in addition (see [`results`]), and a worker's only link into it is
//! limited like its uplink.

mod dag;
mod fabric;
mod master;
mod narrow;
mod prices;
mod results;

use rustc_hash::FxHashMap;

use crate::choices::Paths;
use crate::fractional::{Fractional, Spread};
use crate::model::{Arc, NodeIx};
use crate::phase1;
use crate::router::Router;

use fabric::Fabric;
use master::{Master, Optimum};
use prices::Offers;

/// The gap between the rate and its proven bound at which the rate counts as the optimum.
const GAP: f64 = 1e-7;

/// Threshold in the program's unit below which an optimum is computed again with its own unit: tolerances are
/// absolute.
const SMALL: f64 = 0.01;

/// Solves Eq. (5) over the paths of `router`'s plans, with x_s free or fixed; `None` if that takes longer
/// than `time_left`. If the solver fails, links that are far too narrow for the job are left out.
pub(crate) fn solve(
    router: &Router<'_>,
    fixed: Option<&[f64]>,
    time_left: &dyn Fn() -> f64,
) -> Result<Option<Fractional>, String> {
    // The limit of the nodes; if links allow far less, the unit follows.
    let most = phase1::split(router.model, fixed).rate;
    let mut solved = solve_from(most, router, fixed, time_left);
    for share in narrow::SHARES {
        if solved.is_ok() {
            break;
        }
        let Some(reduced) = narrow::without(router, fixed, share) else { break };
        let paths = if router.detours() { Paths::Any } else { Paths::Shortest };
        let on_reduced = Router::new(&reduced.model, paths);
        let unit = reduced.unit.min(phase1::split(&reduced.model, reduced.fixed.as_deref()).rate);
        let found = solve_from(unit, &on_reduced, reduced.fixed.as_deref(), time_left);
        solved = found.map(|found| found.map(|found| reduced.widen(router.model, found)));
    }
    solved
}

/// Solves it with rates in units of `most` bit/s, or of its own optimum if that is far less.
fn solve_from(
    most: f64,
    router: &Router<'_>,
    fixed: Option<&[f64]>,
    time_left: &dyn Fn() -> f64,
) -> Result<Option<Fractional>, String> {
    let fabric = Fabric::new(router);
    let detours = router.detours();
    let Some(found) = solve_in(most, &fabric, detours, fixed, time_left)? else { return Ok(None) };
    if found.rate >= SMALL * most || found.rate <= 0.0 {
        return Ok(Some(found));
    }
    solve_in(found.rate, &fabric, detours, fixed, time_left)
}

/// Solves it with rates in units of `unit` bit/s; `may_detour`: over the links that shortest paths do not
/// take, too.
fn solve_in(
    unit: f64,
    fabric: &Fabric<'_>,
    may_detour: bool,
    fixed: Option<&[f64]>,
    time_left: &dyn Fn() -> f64,
) -> Result<Option<Fractional>, String> {
    let mut master = Master::new(fabric, fixed, unit)?;
    master.add_columns(fabric.start())?;
    let (mut bound, mut detours) = (f64::INFINITY, false);
    loop {
        let Some(optimum) = master.solve(time_left)? else { return Ok(None) };
        let (overloaded, cuts) = master.violated(&optimum);
        let look = |detours: bool| {
            optimum.prices.offers(fabric, &master.limits, fixed, master.routings.len(), detours)
        };
        let is_proven = |bound: f64| optimum.rate >= bound * (1.0 - GAP);
        let mut offers = look(detours);
        bound = bound.min(offers.bound);
        // A basis that HiGHS does not change, with valuable columns in it, is optimal up to its rounding
        // errors.
        let ended = |offers: &Offers, bound: f64, moved: bool| {
            let holds = overloaded.is_empty() && cuts.is_empty();
            holds && (is_proven(bound) || offers.columns.is_empty() || !moved)
        };
        let mut is_last = ended(&offers, bound, optimum.moved);
        if is_last && !detours && may_detour {
            detours = true;
            offers = look(true);
            bound = offers.bound;
            is_last = ended(&offers, bound, true);
        }
        if is_last {
            let proven = bound.max(optimum.rate) * master.unit;
            return Ok(Some(Fractional { proven, ..read(fabric, &master, &optimum, fixed) }));
        }
        let proven = is_proven(bound);
        master.add_links(&overloaded)?;
        master.add_cuts(cuts)?;
        if !proven {
            master.routings.push(offers.routing);
            master.add_columns(offers.columns)?;
        }
    }
}

/// The y, z and q of an optimum.
fn read(fabric: &Fabric<'_>, master: &Master<'_>, optimum: &Optimum, fixed: Option<&[f64]>) -> Fractional {
    let model = fabric.model;
    let rate = optimum.rate * master.unit;
    let sending: Vec<f64> = match fixed {
        Some(shares) => shares.iter().map(|share| share * rate).collect(),
        None => optimum.sending.iter().map(|f| f * master.unit).collect(),
    };
    let none = || vec![FxHashMap::<NodeIx, f64>::default(); fabric.racks.len()];
    let mut covered: Vec<_> = model.servers.iter().map(|_| none()).collect();
    let mut flow: FxHashMap<(NodeIx, Arc), f64> = FxHashMap::default();
    for (weight, column) in master.used(optimum) {
        let weight = weight * master.unit;
        let end = column.switch.map_or(model.servers[column.server], |v| model.aggregators[v]);
        for &r in &column.racks {
            *covered[column.server][r].entry(end).or_default() += weight;
        }
        fabric.carry(column, &master.routings[column.routing], weight, |to, arc, amount| {
            *flow.entry((to, arc)).or_default() += amount;
        });
    }
    let ends = covered.into_iter().zip(&sending).zip(&model.servers).map(|((racks, &sending), &server)| {
        let of_rack = |ends: FxHashMap<NodeIx, f64>| {
            // Columns may cover a rack more than once if that causes no loss.
            let total: f64 = ends.values().sum();
            let mut ends: Vec<(NodeIx, f64)> = ends
                .into_iter()
                .map(|(end, y)| (end, y * sending / total))
                .filter(|&(_, y)| y > 0.0)
                .collect();
            ends.sort_unstable_by_key(|&(end, _)| end);
            if ends.is_empty() { vec![(server, 1.0)] } else { ends }
        };
        racks.into_iter().map(of_rack).collect()
    });
    Fractional {
        rate,
        proven: rate,
        ends: ends.collect(),
        sending,
        classes: fabric.racks.clone(),
        spread: Spread::Flow(flow),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::choices::Results;
    use crate::model::Model;
    use inart_topologies::switched::generate::{Equipment, fat_tree};
    use inart_topologies::switched::ranges::Ranges;

    #[test]
    fn no_longer_than_allowed() {
        let equipment = Equipment {
            servers: 2,
            workers: 10,
            rate_bps: 20e6,
            aggregation_bps: 9e6,
            ingress_bps: 20e6,
            delay_seconds: 0.0,
            gradient_bytes: 1,
            seed: 1,
        };
        let ranges = Ranges { fabric: "2Mbps..6Mbps".parse().ok(), access: None, aggregation: None };
        let topology =
            fat_tree(4, &equipment).expect("k = 4 holds twelve hosts").with_drawn_rates(&ranges, 1);
        let model = Model::new(&topology, &topology.jobs()[0], Results::Ignored);
        let router = Router::new(&model, Paths::Any);
        let rate = |time_left: &dyn Fn() -> f64| {
            solve(&router, None, time_left).map(|found| found.map(|optimum| optimum.rate))
        };
        // Every query of the clock takes a second; the number of queries of an unlimited run suffices, fewer
        // do not.
        let looks = Cell::new(0);
        let best = rate(&|| {
            looks.set(looks.get() + 1);
            1e9
        });
        assert!(matches!(best, Ok(Some(rate)) if rate > 0.0) && looks.get() > 2, "{best:?}, {looks:?}");
        for (allowed, expected) in [(looks.get(), best), (2, Ok(None)), (0, Ok(None))] {
            let left = Cell::new(f64::from(allowed) + 1e-3);
            assert_eq!(rate(&|| left.replace(left.get() - 1.0)), expected, "{allowed} seconds");
        }
    }
}
