//! Replanning compared with plans that knew the background traffic from the start, at 256 values per frame.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use inart_planner_aggregation::{Options as Planning, Plan, plan_all, schemes};
use inart_simulator_aggregation::{
    Dataplane, Follow, InstalledNetwork, LinkTraffic, Options, SwitchKind, Watch, Watched, simulate,
};
use inart_steering::ReplanThresholds;
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::{NodeKind, Topology};
use inart_wire::ValuesPerFrame;

const SECOND: u64 = 1_000_000_000;
/// Start of the traffic.
const BEGIN: Span = Span(SECOND);
/// Time at which plans have converged.
const SETTLED: Span = Span(3 * SECOND);
const END: Span = Span(5 * SECOND);
/// The part of the link that the traffic takes.
const PART: f64 = 0.9;

fn plan(topology: &Topology) -> Vec<Plan> {
    plan_all(topology, &Planning::new(schemes::OPTIMIZED)).unwrap()
}

/// The direction of a link between two switches of which the plans use the greatest part.
fn busiest(topology: &Topology, plans: &[Plan]) -> [String; 2] {
    let is_switch = |name: &str| {
        let id = topology.node_named(name).unwrap();
        topology.node(id).kind == NodeKind::Switch
    };
    let loads = plans.iter().flat_map(|plan| &plan.load).filter_map(|load| {
        let (from, to) = load.resource.strip_prefix("link ")?.split_once("->")?;
        let between = is_switch(from) && is_switch(to);
        between.then(|| (load.used_bps / load.capacity_bps, [from.to_owned(), to.to_owned()]))
    });
    loads.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
}

/// Returns the topology with the traffic as background.
fn known(topology: &Topology, traffic: &LinkTraffic) -> Topology {
    let [from, to] = [&traffic.from, &traffic.to].map(|name| topology.node_named(name).unwrap());
    let link = topology.link_between(from, to).unwrap();
    let mut background = topology.background();
    background.links[link.index()][usize::from(topology.link(link).ends[0] != from)] += traffic.rate_bps;
    topology.with_background(&background)
}

fn run(network: &InstalledNetwork, traffic: &LinkTraffic, follows: bool, seed: u64) -> Watched {
    let follow =
        Follow { thresholds: ReplanThresholds::default(), notify_within: Span(SECOND / 500), quick: false };
    let watch = Watch { every: Span(SECOND / 5), until: Some(END), follow: follows.then_some(follow) };
    let options = Options {
        rounds: 1,
        gradient_values: 100_000,
        seed,
        others: vec![traffic.clone()],
        watch: Some(watch),
        ..Options::default()
    };
    let report = simulate(network, &Faults::default(), &options, None).unwrap();
    assert_eq!(report.failure, None, "{report}");
    report.watched.unwrap()
}

#[test]
fn following_is_worth_it_and_as_good_as_a_plan_that_knew() {
    let equipment = Equipment {
        servers: 2,
        workers: 14,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 400_000,
        seed: 1,
    };
    let topology = fat_tree(4, &equipment).unwrap();
    let dataplane = Arc::new(Dataplane::new(SwitchKind::V1model, ValuesPerFrame::N256).unwrap());
    let plans = plan(&topology);
    let [from, to] = busiest(&topology, &plans);
    let link = [&from, &to].map(|name| topology.node_named(name).unwrap());
    let rate_bps = PART * topology.link(topology.link_between(link[0], link[1]).unwrap()).rate_bps();
    let traffic = LinkTraffic { from, to, rate_bps, at: BEGIN };
    let network = InstalledNetwork::install(&topology, &dataplane, &plans, 16).unwrap();
    let knows = known(&topology, &traffic);
    let clairvoyant = network.another(&knows, &plan(&knows), 16).unwrap();
    for seed in [1, 2] {
        let [with, without] = [true, false].map(|follows| run(&network, &traffic, follows, seed));
        let knew = run(&clairvoyant, &traffic, false, seed);
        let [gain, vs_oracle] =
            [&without, &knew].map(|other| with.goodput_ratio(other, SETTLED, END).unwrap());
        let decisions = with.decisions.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(gain > 1.0, "seed {seed}: {gain}\n{decisions}");
        assert!(vs_oracle >= 0.95, "seed {seed}: {vs_oracle}\n{decisions}");
    }
}
