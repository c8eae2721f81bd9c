//! LP-InArt by columns and by certificate has the optimum of Eq. (5) written out.

#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{LpMethod, Paths, PlanError, Results, lp_bound_over};
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::ranges::Ranges;
use inart_topologies::switched::{NodeKind, Topology};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::literal;
use crate::networks;

/// Six digits.
const SAME: f64 = 1e-6;

/// Compares both methods for f~ with Eq. (5); returns false if the job cannot be planned.
fn agree(topology: &Topology, equal: bool, (paths, results): (Paths, Results)) -> Result<bool, String> {
    let job = topology.jobs().last().expect("every topology has a job");
    let planned = match lp_bound_over(topology, job, equal, (paths, results), LpMethod::Quickest) {
        Ok(rate) => rate,
        Err(PlanError::Unreachable { .. } | PlanError::Exhausted { .. } | PlanError::NoWayBack { .. }) => {
            return Ok(false);
        }
        Err(error) => return Err(error.to_string()),
    };
    let solved = lp_bound_over(topology, job, equal, (paths, results), LpMethod::Program);
    let solved = solved.map_err(|error| error.to_string())?;
    let literal = literal::optimum(topology, job, equal, paths, results);
    for (name, rate) in [("planning", planned), ("the program", solved)] {
        if (rate / literal - 1.0).abs() > SAME {
            return Err(format!(
                "{paths}, results {results}: {name} finds {rate}, Eq. (5) {literal}\n{}",
                topology.to_yaml()
            ));
        }
    }
    Ok(true)
}

#[test]
fn random_networks() {
    // Background load, switches that cannot aggregate, hosts with two links: see networks/.
    let seed = RngSeed::Fixed(20261121);
    let config = Config { cases: 300, failure_persistence: None, rng_seed: seed, ..Config::default() };
    let [planned, counted] = [const { std::cell::Cell::new(0) }; 2];
    TestRunner::new(config)
        .run(&(networks::document(), any::<bool>()), |(text, equal)| {
            let topology = Topology::from_yaml(&text).unwrap();
            let agree = |over| agree(&topology, equal, over).map_err(TestCaseError::fail);
            planned.set(planned.get() + u32::from(agree((Paths::Shortest, Results::Ignored))?));
            agree((Paths::Shortest, Results::Counted))?;
            // Written out, the flows over any paths are many.
            let switches = topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch).count();
            if switches <= 8 {
                agree((Paths::Any, Results::Ignored))?;
                counted.set(counted.get() + u32::from(agree((Paths::Any, Results::Counted))?));
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(planned.get() >= 240, "only {} networks could be planned", planned.get());
    assert!(counted.get() >= 200, "only {} networks were solved with results", counted.get());
}

/// Fat-trees, k = 4, whose links bind, evenly or not.
#[test]
fn fat_trees_whose_links_bind() {
    for (seed, (fabric, aggregation)) in [
        ("2Mbps..6Mbps", "4Mbps..14Mbps"),
        ("3Mbps..3Mbps", "2Mbps..20Mbps"),
        ("1Mbps..12Mbps", "1Mbps..6Mbps"),
    ]
    .into_iter()
    .cycle()
    .take(9)
    .enumerate()
    {
        let equipment = Equipment {
            servers: 3,
            workers: 12,
            rate_bps: 20e6,
            aggregation_bps: 9e6,
            ingress_bps: 20e6,
            delay_seconds: 0.0,
            gradient_bytes: 1_000_000,
            seed: seed as u64,
        };
        let range = |text: &str| Some(text.parse().unwrap());
        let ranges = Ranges { fabric: range(fabric), access: None, aggregation: range(aggregation) };
        let topology = fat_tree(4, &equipment).unwrap().with_drawn_rates(&ranges, seed as u64);
        for equal in [false, true] {
            for results in [Results::Ignored, Results::Counted] {
                assert_eq!(agree(&topology, equal, (Paths::Shortest, results)), Ok(true), "seed {seed}");
            }
        }
    }
}
