//! Networks small enough to try every placement of two jobs.

use std::cell::Cell;
use std::collections::BTreeMap;

use inart_planner_aggregation::{Options, Order, schemes};
use inart_topologies::switched::Topology;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{config, filled, network, planned};

/// Draws two jobs of two workers on a line of two switches: the links' rates, the switches' aggregation
/// capacities, and the hosts' switches.
fn tiny() -> impl Strategy<Value = (Vec<u32>, Vec<u32>, Vec<usize>)> {
    (
        prop::collection::vec(1u32..12, 9),
        prop::collection::vec(0u32..12, 2),
        prop::collection::vec(0usize..2, 6),
    )
}

/// Returns the network, and the best rates (Mbps, ascending) among all placements.
fn tiny_reference(rates: &[u32], added_up: &[u32], at: &[usize]) -> (Topology, Vec<f64>) {
    let kind = |i: usize| if i < 4 { "worker" } else { "server" };
    let names = ["a1", "a2", "b1", "b2", "s", "t"];
    let places = ["u", "v"];
    let hosts: Vec<_> =
        names.iter().enumerate().map(|(i, name)| (*name, kind(i), places[at[i]], rates[i])).collect();
    let switches: String = places
        .iter()
        .zip(added_up)
        .map(|(name, rate)| {
            format!("  - {{name: {name}, kind: switch, aggregation_capacity: {rate} Mbps}}\n")
        })
        .collect();
    let link = format!("  - {{ends: [u, v], rate: {} Mbps}}\n", rates[6]);
    let jobs =
        "  - {name: a, workers: [a1, a2], servers: [s]}\n  - {name: b, workers: [b1, b2], servers: [t]}\n";
    let topology = network(&switches, &hosts, &link, jobs);

    let mut capacity: BTreeMap<String, f64> = BTreeMap::new();
    for (i, name) in names.iter().enumerate() {
        let (up, down) = (format!("{name} {}", places[at[i]]), format!("{} {name}", places[at[i]]));
        capacity.extend([(up, f64::from(rates[i])), (down, f64::from(rates[i]))]);
    }
    capacity.extend([("u v".to_owned(), f64::from(rates[6])), ("v u".to_owned(), f64::from(rates[6]))]);
    capacity.extend(places.iter().zip(added_up).map(|(v, c)| ((*v).to_owned(), f64::from(*c))));
    let mut best: Option<Vec<f64>> = None;
    // One of three ends for each of four flows: straight, u or v.
    for code in 0..81usize {
        let end = |w: usize| code / 3usize.pow(w as u32) % 3;
        let uses = |workers: [usize; 2], server: usize| {
            let mut uses: BTreeMap<String, f64> = BTreeMap::new();
            let mut cross = |from: usize, to: usize| {
                if from != to {
                    *uses.entry(format!("{} {}", places[from], places[to])).or_default() += 1.0;
                }
            };
            let ends: Vec<usize> = workers.iter().map(|&w| end(w)).collect();
            workers
                .iter()
                .zip(&ends)
                .for_each(|(&w, &end)| cross(at[w], if end == 0 { at[server] } else { end - 1 }));
            let mut groups: Vec<usize> = ends.iter().copied().filter(|&end| end > 0).collect();
            groups.sort_unstable();
            groups.dedup();
            groups.iter().for_each(|group| cross(group - 1, at[server]));
            // Results return over one tree.
            if workers.iter().any(|&w| at[w] != at[server]) {
                cross(at[server], 1 - at[server]);
            }
            let arriving = ends.iter().filter(|&&end| end == 0).count() + groups.len();
            uses.insert(format!("{} {}", places[at[server]], names[server]), arriving as f64);
            uses.insert(format!("{} {}", names[server], places[at[server]]), 1.0);
            for (&w, &end) in workers.iter().zip(&ends) {
                uses.insert(format!("{} {}", places[at[w]], names[w]), 1.0);
                uses.insert(format!("{} {}", names[w], places[at[w]]), 1.0);
                if end > 0 {
                    *uses.entry(places[end - 1].to_owned()).or_default() += 1.0;
                }
            }
            uses
        };
        let mut rates = filled(&[uses([0, 1], 4), uses([2, 3], 5)], &capacity);
        rates.sort_by(f64::total_cmp);
        if best.as_ref().is_none_or(|best| {
            rates[0] > best[0] * (1.0 + 1e-9) || (rates[0] >= best[0] * (1.0 - 1e-9) && rates[1] > best[1])
        }) {
            best = Some(rates);
        }
    }
    (topology, best.unwrap())
}

#[test]
fn tiny_networks_against_all_placements() {
    let (all, met, least) = (Cell::new(0), Cell::new(0), Cell::new(f64::INFINITY));
    let checked = TestRunner::new(ProptestConfig { cases: 4 * config(24).cases, ..config(24) }).run(
        &tiny(),
        |(rates, added_up, at)| {
            let (topology, best) = tiny_reference(&rates, &added_up, &at);
            let plans = planned(&topology, Order::Together, &Options::new(schemes::OPTIMIZED)).unwrap();
            let mut found: Vec<f64> = plans.plans.iter().map(|plan| plan.rate_bps / 1e6).collect();
            found.sort_by(f64::total_cmp);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b;
            all.set(all.get() + 1);
            met.set(met.get() + u32::from(near(found[0], best[0]) && near(found[1], best[1])));
            least.set(least.get().min(found[0] / best[0]));
            let mut bound = plans.max_min_bound_bps.unwrap();
            bound.sort_by(f64::total_cmp);
            let first_apart = bound.iter().zip(&best).find(|&(bound, best)| !near(bound / 1e6, *best));
            prop_assert!(first_apart.is_none_or(|(bound, best)| bound / 1e6 > *best), "{bound:?} {best:?}");
            Ok(())
        },
    );
    checked.unwrap();
    eprintln!(
        "{} of {} at the optimum, the worst at {:.3} of its smallest rate",
        met.get(),
        all.get(),
        least.get()
    );
    assert!(20 * met.get() >= 19 * all.get() && least.get() > 0.8);
}
