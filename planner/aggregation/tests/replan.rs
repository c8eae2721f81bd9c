//! Replanning from a running plan: never worse than its usable part, and nothing moves unnecessarily.

#![allow(clippy::unwrap_used)]

use crate::networks;

use inart_planner_aggregation::plan::Moved;
use inart_planner_aggregation::{Options, Plan, PlanError, check, plan, schemes};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use proptest::prelude::*;
use serde_json::{Value, json};

const STILL: Option<Moved> = Some(Moved { flows: 0, trunks: 0 });

fn made(topology: &Topology, options: &Options<'_>) -> Plan {
    let plan = plan(topology, topology.jobs().last().unwrap(), options).unwrap();
    assert_eq!(check(topology, &plan), Ok(()), "{}", topology.to_yaml());
    plan
}

fn again<'p>(running: &'p Plan, loss: f64) -> Options<'p> {
    Options { running: Some(running), stable_loss: loss, ..Options::new(schemes::OPTIMIZED) }
}

fn k6() -> Topology {
    let equipment = Equipment {
        servers: 4,
        workers: 50,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 100_000_000,
        seed: 1,
    };
    fat_tree(6, &equipment).unwrap()
}

/// The topology with its document changed.
fn changed(topology: &Topology, change: impl FnOnce(&mut Value)) -> Topology {
    let mut document: Value = serde_json::from_str(&topology.to_json()).unwrap();
    change(&mut document);
    Topology::from_yaml(&document.to_string()).unwrap()
}

fn list<'d>(document: &'d mut Value, field: &str) -> &'d mut Vec<Value> {
    document[field].as_array_mut().unwrap()
}

fn joins(link: &Value, ends: [&str; 2]) -> bool {
    ends.iter().all(|end| link["ends"].as_array().unwrap().contains(&json!(end)))
}

/// The links between switches that a plan uses, the fullest first.
fn fabric(plan: &Plan) -> Vec<[&str; 2]> {
    let links = plan.load.iter().filter_map(|load| load.resource.strip_prefix("link "));
    links
        .filter(|name| !name.contains(['w', 's']))
        .map(|name| name.split_once("->").unwrap().into())
        .collect()
}

#[test]
fn an_unchanged_network_keeps_its_plan() {
    let topology = k6();
    let running = made(&topology, &Options::new(schemes::OPTIMIZED));
    let plan = made(&topology, &again(&running, 0.0));
    assert_eq!(plan.moved, STILL);
    assert_eq!(
        (&plan.flows, &plan.trunks, plan.rate_bps),
        (&running.flows, &running.trunks, running.rate_bps)
    );
    assert!(plan.is_proven_optimal());
}

#[test]
fn a_slower_link_moves_only_a_few_flows() {
    let before = k6();
    let running = made(&before, &Options::new(schemes::OPTIMIZED));
    for ends in fabric(&running).into_iter().take(4) {
        let after = changed(&before, |document| {
            let links = list(document, "links");
            links.iter_mut().filter(|link| joins(link, ends)).for_each(|link| link["rate"] = json!("4 Mbps"));
        });
        assert!(check(&after, &running).is_err(), "{ends:?} carried more than 4 Mbps");
        let plan = made(&after, &again(&running, 0.0));
        assert!(plan.is_proven_optimal(), "{ends:?}: {}", plan.rate_bps);
        let moved = plan.moved.unwrap();
        assert!((1..=20).contains(&moved.flows), "{ends:?}: {moved:?}");
    }
}

#[test]
fn the_group_of_a_failed_switch_moves_to_another() {
    let before = k6();
    let running = made(&before, &Options::new(schemes::OPTIMIZED));
    let gone = running.trunks.iter().map(|trunk| &*trunk.aggregator).find(|v| v.starts_with('C')).unwrap();
    let after = changed(&before, |document| {
        list(document, "nodes").retain(|node| node["name"] != gone);
        list(document, "links").retain(|link| !link["ends"].as_array().unwrap().contains(&json!(gone)));
    });
    let plan = made(&after, &again(&running, 0.0));
    assert!(plan.is_proven_optimal(), "{}", plan.rate_bps);
    assert!(plan.moved.unwrap().flows < 100, "{:?}", plan.moved);
}

#[test]
fn a_loss_buys_stability() {
    let before = k6();
    let running = made(&before, &Options::new(schemes::OPTIMIZED));
    // The fullest link is slowed to 0.9 of its load: the unchanged plan then reaches 0.9 of its rate.
    let ends = fabric(&running)[0];
    let used =
        running.load.iter().find(|load| load.resource == format!("link {}->{}", ends[0], ends[1])).unwrap();
    let after = changed(&before, |document| {
        let links = list(document, "links");
        links
            .iter_mut()
            .filter(|link| joins(link, ends))
            .for_each(|link| link["rate"] = json!(format!("{} bps", 0.9 * used.used_bps)));
    });
    let best = made(&after, &again(&running, 0.0));
    let stable = made(&after, &again(&running, 0.2));
    assert!(best.moved.unwrap().flows > 0 && best.is_proven_optimal());
    assert_eq!(stable.moved, STILL);
    assert!(stable.rate_bps >= 0.8 * best.rate_bps);
}

#[test]
fn another_networks_plan_is_refused() {
    let topology = k6();
    let running = made(&topology, &Options::new(schemes::OPTIMIZED));
    let refused = |running: &Plan| plan(&topology, &topology.jobs()[0], &again(running, 0.0)).unwrap_err();
    let elsewhere = refused(&Plan { topology: "other".to_owned(), ..running.clone() });
    assert!(matches!(&elsewhere, PlanError::Foreign { what, .. } if what.contains("other")), "{elsewhere}");
    let stranger = refused(&Plan { job: "other".to_owned(), ..running.clone() });
    assert!(stranger.to_string().contains("start from a plan of this job"), "{stranger}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 30,
        rng_seed: proptest::test_runner::RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// On random networks whose links then change: the plan holds, and it is no worse than the running one at
    /// its remaining rate, and within the loss of the best if asked to be stable.
    #[test]
    fn never_worse_than_the_running_plan(
        text in networks::document(),
        link: prop::sample::Index,
        factor in 0.2f64..2.0,
    ) {
        let before = Topology::from_yaml(&text).unwrap();
        let job = before.jobs().last().unwrap();
        let Ok(running) = plan(&before, job, &Options::new(schemes::OPTIMIZED)) else {
            return Ok(());
        };
        let unchanged = made(&before, &again(&running, 0.0));
        prop_assert!(unchanged.rate_bps >= running.rate_bps * (1.0 - 1e-9));
        let at = link.index(before.links().len());
        let after = changed(&before, |document| {
            let rate = before.links()[at].rate_bps() * factor;
            list(document, "links")[at]["rate"] = json!(format!("{rate} bps"));
        });
        if plan(&after, after.jobs().last().unwrap(), &Options::new(schemes::LBMM)).is_err() {
            return Ok(());
        }
        let left = running
            .load
            .iter()
            .filter(|load| {
                let [a, b] = before.links()[at].ends.map(|end| &before.node(end).name);
                load.resource == format!("link {a}->{b}") || load.resource == format!("link {b}->{a}")
            })
            .map(|load| (load.capacity_bps + before.links()[at].rate_bps() * (factor - 1.0)) / load.used_bps)
            .fold(1.0, f64::min);
        let best = made(&after, &again(&running, 0.0));
        prop_assert!(best.rate_bps >= running.rate_bps * left * (1.0 - 1e-6), "{} {left}", best.rate_bps);
        prop_assert!(best.rate_bps <= best.bounds.integral_bps * (1.0 + 1e-6));
        let stable = made(&after, &again(&running, 0.1));
        prop_assert!(stable.rate_bps >= best.rate_bps * 0.9 * (1.0 - 1e-6));
        let moves = |plan: &Plan| plan.moved.map(|moved| moved.flows + moved.trunks);
        prop_assert!(moves(&stable) <= moves(&best), "{:?} {:?}", stable.moved, best.moved);
    }
}
