//! Peers that fail permanently: every remaining worker ends with an error that names the failed one.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{Options, Report, simulate};
use inart_topologies::faults::Faults;
use support::{fig1, network};

fn run(events: &str) -> Report {
    let topology = fig1();
    let network = network(&topology, schemes::OPTIMIZED, 8);
    let faults = Faults::from_yaml(&format!("events: [{events}]")).unwrap();
    let options = Options { rounds: 50, gradient_values: 10_000, ..Options::default() };
    simulate(&network, &faults, &options, None).unwrap()
}

/// Returns how every worker but `except` ended; each must have had some sums before.
fn ends(report: &Report, except: &str) -> Vec<String> {
    assert_eq!(report.failure, None, "{report}");
    assert!(report.sums_checked > 0, "{report}");
    let ends = report.jobs[0].ends.iter().filter(|end| end.worker != except);
    ends.map(|end| end.end.clone()).collect()
}

#[test]
fn a_killed_worker_is_named_at_all_others() {
    let report = run("{at: 1 ms, crash: w4}");
    let ends = ends(&report, "w4");
    assert_eq!(ends.len(), 5);
    assert!(ends.iter().all(|end| end.contains("worker 3 (w4) is silent")), "{report}");
}

#[test]
fn a_killed_server_is_named_at_every_worker() {
    let report = run("{at: 1 ms, crash: s2}");
    let ends = ends(&report, "");
    assert_eq!(ends.len(), 6);
    assert!(ends.iter().any(|end| end.contains("parameter server s2 (shard 1)")), "{report}");
}

#[test]
fn a_server_that_was_started_again_knows_that_it_has_forgotten() {
    let report = run("{at: 1 ms, crash: s2, duration: 100 ms}");
    let ends = ends(&report, "");
    assert_eq!(ends.len(), 6);
    let expected = "parameter server s2 (shard 1) was restarted and has lost its sums";
    assert!(ends.iter().all(|end| end.contains(expected)), "{report}");
    assert!(report.seconds < 1.5, "{report}");
}

#[test]
fn a_partitioned_job_ends_on_both_sides() {
    let report = run("{at: 1 ms, partition: [w1, w2, w3, w4, v1], duration: 1000 s}");
    assert_eq!(ends(&report, "").len(), 6);
}

#[test]
fn an_interface_that_is_down_for_a_moment_ends_nothing() {
    let report = run(
        "{at: 1 ms, interface_down: w3, duration: 300 ms}, {at: 500 ms, interface_down: s1, duration: 300 ms}",
    );
    assert_eq!(ends(&report, "").len(), 0);
    assert_eq!((report.jobs[0].rounds, report.tally.bounces), (50, 2));
    assert!(report.tally.cut > 0, "{report}");
}

#[test]
fn an_interface_that_is_down_for_long_is_named() {
    let report = run("{at: 1 ms, interface_down: w3, duration: 1000 s}");
    let ends = ends(&report, "w3");
    assert_eq!(ends.len(), 5);
    assert!(ends.iter().all(|end| end.contains("worker 2 (w3) is silent")), "{report}");
}

#[test]
fn a_short_cut_ends_nothing() {
    let report = run("{at: 1 ms, partition: [w1, w2, w3, w4, v1], duration: 300 ms}");
    assert_eq!(ends(&report, "").len(), 0);
    assert_eq!(report.jobs[0].rounds, 50);
}
