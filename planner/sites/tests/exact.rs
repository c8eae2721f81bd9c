//! Trees, shares and paths compared with exact values of a reference computation.
#![allow(clippy::unwrap_used)]

use crate::support;

use inart_planner_sites::{Disjoint, Options, Plan, Scheme, cut, plan};
use inart_topologies::sites::Overlay;
use serde_json::Value;

const INSTANCES: [&str; 3] = ["sym1", "sym2", "src0"];

fn planned(overlay: &Overlay, options: &Options) -> Plan {
    let plan = plan(overlay, &overlay.jobs()[0], &overlay.rates_at(0.0), options).unwrap();
    assert_eq!(inart_planner_sites::check(overlay, &overlay.jobs()[0], &plan), Vec::<String>::new());
    plan
}

/// Returns the parent of each of the nine sites, 0 at the root.
fn parents(plan: &Plan, tree: usize) -> Vec<u64> {
    let number = |name: &String| name[1..].parse::<u64>().unwrap();
    let of = |at: u64| plan.trees[tree].parents.get(&format!("n{at}")).map_or(0, number);
    (1..=9).map(of).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn close(is: f64, value: &Value) {
    let should = value.as_f64().unwrap();
    assert!((is - should).abs() <= 1e-12 * should, "{is} {should}");
}

#[test]
fn trees_of_all_roots_and_their_chunks() {
    let Some(data) = support::data() else { return };
    for name in INSTANCES {
        let (overlay, exact) = (support::instance(&data, name, 61), &data["instances"][name]);
        let plan = planned(&overlay, &Options::new(Scheme::Netstorm));
        for (at, tree) in plan.trees.iter().enumerate() {
            assert_eq!(tree.root, format!("n{}", at + 1));
            close(tree.weight_s_per_mbit, &exact["weight_s_per_mbit"][at]);
            close(tree.quality_mbps, &exact["quality_mbps"][at]);
            assert_eq!(
                parents(&plan, at),
                numbers(&exact["parents"][&tree.root[1..]]),
                "{name} {}",
                tree.root
            );
            assert_eq!(tree.chunks, exact["chunks_per_root"][at].as_u64().unwrap(), "{name} {}", tree.root);
        }
        let policy = inart_planner_sites::policy(&overlay, &overlay.jobs()[0], &plan, 1).unwrap();
        let owners: Vec<u64> = policy.chunk_trees.iter().map(|tree| u64::from(tree.0) + 1).collect();
        assert_eq!(owners, numbers(&exact["owner_of_chunk"]), "{name}");
    }
}

#[test]
fn the_best_roots_come_first() {
    let Some(data) = support::data() else { return };
    for name in INSTANCES {
        let overlay = support::instance(&data, name, 61);
        let best = numbers(&data["instances"][name]["roots_best_first"]);
        for count in 1..=9 {
            let plan = planned(&overlay, &Options { roots: Some(count), ..Options::new(Scheme::Netstorm) });
            let mut should: Vec<_> = best[..count].iter().map(|root| format!("n{root}")).collect();
            should.sort();
            assert_eq!(plan.trees.iter().map(|tree| tree.root.clone()).collect::<Vec<_>>(), should, "{name}");
        }
        let one = planned(&overlay, &Options::new(Scheme::Fapt));
        assert_eq!(one.trees[0].root, format!("n{}", best[0]), "{name}");
    }
}

#[test]
fn the_maximum_spanning_tree() {
    let Some(data) = support::data() else { return };
    for name in INSTANCES {
        let exact = &data["instances"][name]["mst"];
        let plan = planned(&support::instance(&data, name, 61), &Options::new(Scheme::Mst));
        assert_eq!(plan.trees[0].root, format!("n{}", exact["root"]), "{name}");
        close(plan.trees[0].weight_s_per_mbit, &exact["weight_s_per_mbit"]);
        let mut edges: Vec<_> =
            exact["edges_in_order_of_choice"].as_array().unwrap().iter().map(numbers).collect();
        let mut ours: Vec<Vec<u64>> = (1..)
            .zip(parents(&plan, 0))
            .filter(|(_, parent)| *parent > 0)
            .map(|(at, parent): (u64, u64)| vec![at.min(parent), at.max(parent)])
            .collect();
        edges.sort();
        ours.sort();
        assert_eq!(ours, edges, "{name}");
    }
}

#[test]
fn auxiliary_paths_in_both_readings() {
    let Some(data) = support::data() else { return };
    for name in INSTANCES {
        let overlay = support::instance(&data, name, 61);
        for (key, disjoint) in
            [("paths_edge_disjoint", Disjoint::Edges), ("paths_node_disjoint", Disjoint::Nodes)]
        {
            let options = Options { auxiliary: Some(disjoint), ..Options::new(Scheme::Netstorm) };
            let plan = planned(&overlay, &options);
            let exact = data["instances"][name][key].as_object().unwrap();
            assert_eq!(plan.auxiliary.len(), exact.len());
            for entry in &plan.auxiliary {
                let pair = format!("{}-{}", &entry.from[1..], &entry.to[1..]);
                let number = |site: &String| site[1..].parse::<u64>().unwrap();
                let ours: Vec<Vec<u64>> =
                    entry.paths.iter().map(|path| path.iter().map(number).collect()).collect();
                let exact: Vec<_> = exact[&pair].as_array().unwrap().iter().map(numbers).collect();
                assert_eq!(ours, exact, "{name} {key} {pair}");
            }
        }
    }
}

#[test]
fn tensors_are_cut_and_dealt_by_their_parameters() {
    let Some(data) = support::data() else { return };
    let exact = &data["alexnet"];
    let tensors: Vec<u64> = numbers(&exact["tensors"]).iter().map(|parameters| 4 * parameters).collect();
    let sizes: Vec<u64> = numbers(&exact["chunk_sizes"]).iter().map(|parameters| 4 * parameters).collect();
    assert_eq!(cut(&tensors, 4_000_000), sizes);
    let tensors: Vec<_> = tensors.iter().map(|bytes| format!("{bytes} B")).collect();
    let document = support::instance(&data, "sym1", 61).to_yaml();
    let (before, _) = document.split_once("jobs:").unwrap();
    let job = format!("jobs:\n  - {{name: alexnet, tensors: [{}], chunk: 4 MB}}\n", tensors.join(", "));
    let overlay = Overlay::from_yaml(&(before.to_owned() + &job)).unwrap();
    let plan = planned(&overlay, &Options::new(Scheme::Netstorm));
    let policy = inart_planner_sites::policy(&overlay, &overlay.jobs()[0], &plan, 1).unwrap();
    let owners: Vec<u64> = policy.chunk_trees.iter().map(|tree| u64::from(tree.0) + 1).collect();
    assert_eq!(owners, numbers(&exact["owner_of_chunk_sym1"]));
    let mut has = [0; 9];
    owners.iter().zip(&sizes).for_each(|(root, bytes)| has[*root as usize - 1] += bytes / 4);
    assert_eq!(has.to_vec(), numbers(&exact["parameters_per_root_sym1"]));
}

#[test]
fn routes_of_the_fewest_hops() {
    let Some(data) = support::data() else { return };
    let overlay = support::instance(&data, "src0", 1);
    for root in 1..=9usize {
        let root_id = overlay.site_named(&format!("n{root}"));
        let plan = planned(&overlay, &Options { root: root_id, ..Options::new(Scheme::Star) });
        let policy = inart_planner_sites::policy(&overlay, &overlay.jobs()[0], &plan, 1).unwrap();
        for ((from, to), route) in &policy.routes {
            let hops = numbers(&data["hop_next"][(to.0 + 1).to_string()]);
            let mut at = u64::from(from.0) + 1;
            for next in &route[1..] {
                at = hops[at as usize - 1];
                assert_eq!(at, u64::from(next.0) + 1, "{from:?} {to:?}");
            }
        }
    }
}

#[test]
fn one_tree_on_equal_rates_takes_the_closed_form() {
    for (chunks, seconds) in [(1, 1.4), (5, 2.68), (61, 20.6)] {
        let overlay = support::equal(100, chunks);
        let options = Options { root: overlay.site_named("n4"), ..Options::new(Scheme::Fapt) };
        let plan = planned(&overlay, &options);
        assert!((plan.predicted_s - seconds).abs() < 1e-9, "{chunks} chunks: {}", plan.predicted_s);
    }
}
