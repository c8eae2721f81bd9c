//! Replanning of several jobs that have to swap: no single one can improve.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::Cell;

use inart_planner_aggregation::plan::Flow;
use inart_planner_aggregation::{Options, Plan, check, plan_again, plan_all, schemes};
use inart_topologies::switched::Topology;

/// Three leaves and two spines, two jobs; the first sums at c1, the second at c2.
fn network() -> Topology {
    Topology::from_yaml(include_str!("../../../topologies/live.yaml")).unwrap()
}

fn rates(plans: &[Plan]) -> Vec<f64> {
    plans.iter().map(|plan| (plan.rate_bps / 1e5).round() / 10.0).collect()
}

#[test]
fn jobs_that_have_to_change_places_do() {
    let topology = network();
    let running = plan_all(&topology, &Options::new(schemes::OPTIMIZED)).unwrap();
    assert_eq!(rates(&running), [1000.0, 1000.0]);
    let spine = running[0].flows[0].aggregator.clone().unwrap();
    let mut background = topology.background();
    for (from, to) in [("l1", &*spine), (&*spine, "l3")] {
        let [from, to] = [from, to].map(|name| topology.node_named(name).unwrap());
        let link = topology.link_between(from, to).unwrap();
        background.links[link.index()][usize::from(topology.link(link).ends[0] != from)] += 1.5e9;
    }
    let busy = topology.with_background(&background);
    // Time that does not depend on the machine: a limited number of queries.
    let asked = Cell::new(0);
    let time_left = || {
        asked.set(asked.get() + 1);
        if asked.get() < 20_000 { 1.0 } else { 0.0 }
    };
    let options = Options { keep_shares: true, time_left: &time_left, ..Options::new(schemes::OPTIMIZED) };
    let again = plan_again(&busy, &running, &options).unwrap();
    let fresh = plan_all(&busy, &Options::new(schemes::OPTIMIZED)).unwrap();
    assert_eq!(rates(&fresh), [666.7, 666.7]);
    assert_eq!(rates(&again), rates(&fresh));
    again.iter().for_each(|plan| check(&busy, plan).unwrap());
    // Moves are counted: one of the two jobs moved to the other spine completely.
    let moved: Vec<usize> = again.iter().map(|plan| plan.moved.unwrap().flows).collect();
    let other = |(new, old): (&Plan, &Plan)| {
        let moved = |(new, old): (&Flow, &Flow)| (&new.aggregator, &new.path) != (&old.aggregator, &old.path);
        new.flows.iter().zip(&old.flows).filter(|&flows| moved(flows)).count()
    };
    assert_eq!(moved, again.iter().zip(&running).map(other).collect::<Vec<_>>());
    assert!(moved.iter().sum::<usize>() > 0, "{moved:?}");
}
