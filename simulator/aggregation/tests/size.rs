//! The largest network that is run in the tests: 45 switches and 54 hosts.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{Options, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use support::network;

#[test]
fn a_fat_tree_of_45_switches_and_54_hosts_sums_right_under_loss() {
    let equipment = Equipment {
        servers: 4,
        workers: 50,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 10e-6,
        gradient_bytes: 1000,
        seed: 1,
    };
    let topology = fat_tree(6, &equipment).unwrap();
    let network = network(&topology, schemes::OPTIMIZED, 16);
    let faults = Faults::from_yaml("links: [{drop: 0.1%}]").unwrap();
    let options = Options { rounds: 2, gradient_values: 4000, ..Options::default() };
    let report = simulate(&network, &faults, &options, None).unwrap();
    assert_eq!(report.failure, None);
    assert!(report.summed_in_switches > 0 && report.faults["frame lost"] > 0);
    assert_eq!((report.jobs[0].rounds, report.jobs[0].ends.len()), (2, 0));
}
