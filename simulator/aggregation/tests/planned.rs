//! Achieved share of the planned rate, with results on the links: no queue grows without bound, so no job
//! slows down.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::{Options as Planning, Plan, PlanError, plan, schemes};
use inart_simulator_aggregation::{InstalledNetwork, Options, Report, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use support::{dataplane, fig1};

/// Values per frame, and bytes of such a frame.
const VALUES: f64 = 32.0;
const FRAME_BYTES: f64 = 172.0;

/// A run's rate in Ethernet frames, as part of the plan's.
fn part_of_plan(topology: &Topology, planned: Plan, gradient_values: usize) -> (f64, Report) {
    let rate_bps = planned.rate_bps;
    let network = InstalledNetwork::install(topology, dataplane(), &[planned], 64).unwrap();
    let options = Options { rounds: 2, gradient_values, ..Options::default() };
    let report = simulate(&network, &Faults::default(), &options, None).unwrap();
    assert_eq!(report.failure, None);
    let frames_bps = report.jobs[0].goodput_bps * FRAME_BYTES / (4.0 * VALUES);
    (frames_bps / rate_bps, report)
}

fn all_reach_their_rate(topology: &Topology, gradient_values: usize) {
    let within_capacity = schemes::ALL.iter().filter(|scheme| scheme.promises().ignores.is_empty());
    for &scheme in within_capacity {
        let planned = match plan(topology, &topology.jobs()[0], &Planning::new(scheme)) {
            Err(PlanError::TooLarge { .. }) => continue,
            planned => planned.unwrap(),
        };
        let (part, report) = part_of_plan(topology, planned, gradient_values);
        assert!(part > 0.97, "{scheme}: {part} of its rate\n{report}");
        assert_eq!(report.jobs[0].retransmissions, 0, "{scheme}\n{report}");
    }
}

#[test]
fn every_scheme_reaches_its_rate_on_fig1() {
    all_reach_their_rate(&fig1(), 150_000);
}

#[test]
#[ignore = "soak: about 10 s"]
fn every_scheme_reaches_its_rate_on_fig1_with_half_a_million_values() {
    all_reach_their_rate(&fig1(), 500_000);
}

#[test]
fn every_scheme_reaches_its_rate_on_a_fat_tree() {
    all_reach_their_rate(&of_links_that_carry_both_ways(), 150_000);
}

#[test]
#[ignore = "soak: about 25 s"]
fn every_scheme_reaches_its_rate_on_a_fat_tree_with_half_a_million_values() {
    all_reach_their_rate(&of_links_that_carry_both_ways(), 500_000);
}

/// Returns a fat-tree of k = 6 whose links carry gradients one way and results the other.
fn of_links_that_carry_both_ways() -> Topology {
    let equipment = Equipment {
        servers: 4,
        workers: 10,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 1000,
        seed: 1,
    };
    fat_tree(6, &equipment).unwrap()
}
