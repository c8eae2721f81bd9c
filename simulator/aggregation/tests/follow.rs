//! Replanning for background traffic and failures: goodput recovers, no sum is wrong.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{Follow, LinkTraffic, Options, Report, Watch, simulate};
use inart_steering::ReplanThresholds;
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_topologies::switched::Topology;
use support::network;

const MS: u64 = 1_000_000;

/// Returns two workers and a server connected by two paths, of which plans use one.
fn two_ways() -> Topology {
    let yaml =
        "{name: ways, nodes: [{name: a, kind: switch}, {name: b, kind: switch}, {name: c, kind: switch},
      {name: s, kind: server}, {name: w1, kind: worker}, {name: w2, kind: worker}],
      links: [{ends: [w1, a], rate: 20 Mbps}, {ends: [w2, a], rate: 20 Mbps}, {ends: [a, b], rate: 40 Mbps},
      {ends: [a, c], rate: 40 Mbps}, {ends: [c, b], rate: 40 Mbps}, {ends: [b, s], rate: 40 Mbps}]}";
    Topology::from_yaml(yaml).unwrap()
}

fn run(follows: bool, others: Vec<LinkTraffic>, faults: &str) -> Report {
    let follow =
        Follow { thresholds: ReplanThresholds::default(), notify_within: Span(2 * MS), quick: false };
    let watch =
        Watch { every: Span(50 * MS), until: Some(Span(2500 * MS)), follow: follows.then_some(follow) };
    let options =
        Options { rounds: 1, gradient_values: 20_000, others, watch: Some(watch), ..Options::default() };
    let faults = Faults::from_yaml(faults).unwrap();
    simulate(&network(&two_ways(), schemes::OPTIMIZED, 16), &faults, &options, None).unwrap()
}

#[test]
fn a_plan_leaves_the_link_that_others_use() {
    let traffic = || LinkTraffic { from: "a".into(), to: "b".into(), rate_bps: 36e6, at: Span(500 * MS) };
    let [with, without] = [true, false].map(|follows| {
        let report = run(follows, vec![traffic()], "{}");
        assert_eq!(report.failure, None, "{report}");
        report.watched.unwrap()
    });
    let ratio = with.goodput_ratio(&without, Span(1500 * MS), Span(2500 * MS)).unwrap();
    assert!(ratio > 1.5, "{ratio}");
    let before = with.results_per_second(Span(100 * MS), Span(500 * MS)).unwrap()[0];
    let after = with.results_per_second(Span(1500 * MS), Span(2500 * MS)).unwrap()[0];
    assert!(after > 0.9 * before, "{after} of {before} results per second");
    assert!(with.decisions.iter().any(|decision| decision.is_change()) && without.decisions.is_empty());
}

#[test]
fn jobs_go_on_without_a_link_that_failed() {
    let faults = "events: [{at: 500 ms, link_down: [a, b], duration: 20 s}]";
    let report = run(true, Vec::new(), faults);
    assert_eq!(report.failure, None, "{report}");
    assert!(report.jobs[0].ends.is_empty(), "{report}");
    let watched = report.watched.unwrap();
    let before = watched.results_per_second(Span(100 * MS), Span(500 * MS)).unwrap()[0];
    let after = watched.results_per_second(Span(700 * MS), Span(2500 * MS)).unwrap()[0];
    assert!(after > 0.9 * before, "{after} of {before} results per second");

    // Without following, the job ends by name.
    assert!(!run(false, Vec::new(), faults).jobs[0].ends.is_empty());
}
