//! Plan changes while jobs run: no round is lost, no sum is wrong, and goodput stays.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::{Levels, Options as Planning, plan_all, schemes};
use inart_simulator_aggregation::{Changes, InstalledNetwork, Options, Report, alternatives, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::{Share, Span};
use inart_topologies::switched::Topology;
use support::{dataplane, fig1, racks};

const MS: u64 = 1_000_000;

/// Returns `count` changes with notification within 2 ms.
fn changes(count: u32, gap: u64) -> Changes {
    Changes {
        count,
        first: Span(5 * MS),
        gap: Span(gap),
        notify_within: Span(2 * MS),
        coordinated: true,
        undone: Share::default(),
        plans: Vec::new(),
        hold: true,
        pretend: None,
    }
}

/// A network at the rate that all plans allow, and a run with changes between them.
fn network(topology: &Topology, changes: Changes, gradient_values: usize) -> (InstalledNetwork, Options) {
    let plans = plan_all(topology, &Planning::new(schemes::OPTIMIZED)).unwrap();
    let sets = alternatives(topology, &plans, 1, 2);
    assert!(!sets.is_empty(), "other routes exist");
    let mut network = InstalledNetwork::install(topology, dataplane(), &plans, 64).unwrap();
    network.limit_rates(&sets[0].iter().map(|plan| plan.rate_bps).collect::<Vec<_>>());
    let changes = Some(Changes { plans: sets, ..changes });
    (network, Options { rounds: 2, gradient_values, changes, ..Options::default() })
}

fn run(network: &InstalledNetwork, options: &Options, faults: &Faults) -> Report {
    let report = simulate(network, faults, options, None).unwrap();
    assert_eq!(report.failure, None, "{report}");
    report
}

/// Runs changes that lose nothing. Returns the goodput during changes relative to a run without changes.
fn goodput_ratio(topology: &Topology, wanted: Changes, gradient_values: usize) -> f64 {
    let (network, options) = network(topology, wanted, gradient_values);
    let with = run(&network, &options, &Faults::default()).changes.unwrap();
    let pretend = options.changes.clone().map(|changes| Changes { pretend: with.span(), ..changes });
    let without = run(&network, &Options { changes: pretend, ..options.clone() }, &Faults::default());
    let without = without.changes.unwrap();
    assert_eq!((with.changes, with.lost_rounds), (options.changes.unwrap().count, 0));
    assert_eq!((without.changes, without.lost_rounds, without.span()), (0, 0, with.span()));
    with.goodput_ratio(&without).unwrap()
}

#[test]
fn goodput_stays_while_routes_change() {
    let ratio = goodput_ratio(&racks(6), changes(20, 20 * MS), 20_000);
    assert!(ratio > 0.9 && ratio < 1.02, "{ratio}");
}

/// A window takes long to send, and the other plans use links that these do not: workers stay in the old plan
/// version for long, and all frames of a chunk use one plan.
#[test]
fn goodput_stays_where_a_window_takes_long() {
    let text = include_str!("../../../topologies/fig1.yaml").replace("Gbps", "Mbps");
    let topology = Topology::from_yaml(&text).unwrap();
    let wanted = Changes { first: Span(6_000 * MS), ..changes(5, 20 * MS) };
    let ratio = goodput_ratio(&topology, wanted, 40_000);
    assert!(ratio > 0.9 && ratio < 1.02, "{ratio}");
}

/// No result of in-network sums arrives between the first and the last host's migration.
#[test]
fn hosts_that_migrate_when_notified_stall_meanwhile() {
    let ratio = goodput_ratio(&racks(6), Changes { coordinated: false, ..changes(20, 30 * MS) }, 20_000);
    assert!(ratio > 0.85 && ratio < 1.02, "{ratio}");
}

/// Several servers, each of whose streams migrates independently.
#[test]
fn goodput_stays_on_the_papers_network() {
    let text = include_str!("../../../topologies/fig1.yaml").replace("Gbps", "Mbps");
    let ratio = goodput_ratio(&Topology::from_yaml(&text).unwrap(), changes(5, 50 * MS), 2_000);
    assert!(ratio > 0.9 && ratio < 1.02, "{ratio}");
}

#[test]
fn changes_are_undone_under_faults() {
    for coordinated in [true, false] {
        let wanted = Changes { undone: Share::near(0.5), coordinated, ..changes(30, MS) };
        let (network, options) = network(&racks(5), wanted, 3_000);
        let faults = "links: [{drop: 1%, duplicate: 1%, reorder: 2%, reorder_by: 200 us}]";
        let report = run(&network, &options, &Faults::from_yaml(faults).unwrap());
        let seen = report.changes.unwrap();
        assert_eq!((seen.changes, seen.lost_rounds), (30, 0));
        assert!(report.tally.undone > 5 && report.tally.undone < 25, "{}", report.tally.undone);
    }
}

#[test]
fn a_switch_restarts_while_routes_change() {
    let (network, options) = network(&racks(4), changes(10, 3 * MS), 3_000);
    let faults =
        "events: [{at: 9 ms, restart: T0, duration: 4 ms}, {at: 30 ms, restart: T1, duration: 2 ms}]";
    let report = run(&network, &options, &Faults::from_yaml(faults).unwrap());
    assert_eq!(report.changes.unwrap().lost_rounds, 0);
    assert_eq!(report.tally.restarts, 2);
}

#[test]
fn jobs_of_two_levels_and_of_two_kinds_change_too() {
    let topology = fig1();
    let plans =
        plan_all(&topology, &Planning { levels: Levels::Two, ..Planning::new(schemes::OPTIMIZED) }).unwrap();
    let network = InstalledNetwork::install(&topology, dataplane(), &plans, 16).unwrap();
    let sets = alternatives(&topology, &plans, 1, 2);
    let changes = Changes { plans: sets, notify_within: Span(200_000), ..changes(10, 100_000) };
    let changes = Some(Changes { first: Span(100_000), ..changes });
    let options = Options { gradient_values: 5_000, changes, ..Options::default() };
    assert_eq!(run(&network, &options, &Faults::default()).changes.unwrap().lost_rounds, 0);
}
