//! The current network, without failed parts and with background traffic: what a plan still carries there,
//! and plans around failures with the shares of a running job.

#![allow(clippy::unwrap_used)]

use crate::networks;

use inart_planner_aggregation::{
    JobPlans, Options, Order, Plan, PlanError, check, check_jobs, plan, plan_again, plan_all, schemes,
    sustainable_rate, sustainable_rates,
};
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::{LinkId, Topology};
use proptest::prelude::*;

fn fig1() -> Topology {
    Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).unwrap()
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

fn made(topology: &Topology, options: &Options<'_>) -> Plan {
    let plan = plan(topology, topology.jobs().last().unwrap(), options).unwrap();
    assert_eq!(check(topology, &plan), Ok(()), "{}", topology.to_yaml());
    plan
}

fn keeping(running: &Plan) -> Options<'_> {
    Options { running: Some(running), keep_shares: true, ..Options::new(schemes::OPTIMIZED) }
}

/// The fullest link between switches that a plan uses.
fn busiest(topology: &Topology, plan: &Plan) -> LinkId {
    let node = |name: &str| topology.node_named(name).unwrap();
    let links = plan.load.iter().filter_map(|load| load.resource.strip_prefix("link "));
    let ends = links.map(|name| name.split_once("->").unwrap()).map(|(a, b)| (node(a), node(b)));
    let is_switch = |id| topology.node(id).kind == inart_topologies::switched::NodeKind::Switch;
    let (a, b) = ends.into_iter().find(|&(a, b)| is_switch(a) && is_switch(b)).unwrap();
    topology.link_between(a, b).unwrap()
}

fn uses(plan: &Plan, [a, b]: [&str; 2]) -> bool {
    let hop = |x: &str, y: &str| x == a && y == b || x == b && y == a;
    let path = |path: &Vec<String>| path.windows(2).any(|step| hop(&step[0], &step[1]));
    let trees = plan.results.iter().flat_map(|tree| &tree.links);
    plan.flows.iter().any(|flow| path(&flow.path))
        || plan.trunks.iter().any(|trunk| path(&trunk.path))
        || trees.into_iter().any(|[x, y]| hop(x, y))
}

#[test]
fn a_failed_link_is_avoided_with_the_same_shares() {
    let topology = k6();
    let running = made(&topology, &Options::new(schemes::OPTIMIZED));
    let link = busiest(&topology, &running);
    let ends = topology.link(link).ends.map(|end| &*topology.node(end).name);
    assert!(uses(&running, ends));
    let left = topology.without(&[link], &[]);
    let broken = sustainable_rate(&left, &running).unwrap();
    assert_eq!(broken.rate_bps, 0.0);
    assert!(
        broken.limit.contains(&format!("there is no link {}-{}", ends[0], ends[1]))
            || broken.limit.contains(&format!("there is no link {}-{}", ends[1], ends[0])),
        "{}",
        broken.limit
    );
    let plan = made(&left, &keeping(&running));
    assert_eq!(plan.shards, running.shards);
    assert!(!uses(&plan, ends));
    // It also holds on the whole network, where it is installed.
    assert!(sustainable_rate(&topology, &plan).unwrap().rate_bps >= plan.rate_bps * (1.0 - 1e-9));
    assert!(plan.moved.unwrap().flows < 50, "{:?}", plan.moved);
}

#[test]
fn a_switch_that_failed_and_one_that_adds_nothing_up() {
    let topology = k6();
    let running = made(&topology, &Options::new(schemes::OPTIMIZED));
    let name = running.trunks.iter().map(|trunk| &*trunk.aggregator).find(|v| v.starts_with('C')).unwrap();
    let core = topology.node_named(name).unwrap();
    let gone = made(&topology.without(&[], &[core]), &keeping(&running));
    assert_eq!(gone.shards, running.shards);
    assert!(gone.flows.iter().all(|flow| flow.path.iter().all(|node| node != name)));
    let forwarding = topology.without_sums(&[core]);
    let broken = sustainable_rate(&forwarding, &running).unwrap();
    assert_eq!(broken.rate_bps, 0.0);
    assert!(broken.limit.contains("has no aggregation"), "{}", broken.limit);
    let plan = made(&forwarding, &keeping(&running));
    assert!(plan.trunks.iter().all(|trunk| trunk.aggregator != name));
    assert_eq!(plan.shards, running.shards);
}

#[test]
fn background_lowers_what_a_plan_carries_and_names_the_link() {
    let topology = k6();
    let running = made(&topology, &Options::new(schemes::OPTIMIZED));
    let alone = sustainable_rate(&topology, &running).unwrap();
    assert!((alone.rate_bps - running.rate_bps).abs() < 1e-6 * running.rate_bps, "{alone:?}");
    let link = busiest(&topology, &running);
    let mut background = topology.background();
    background.links[link.index()] = [17e6; 2];
    let loaded = topology.with_background(&background);
    assert_eq!(loaded.background(), background);
    let left = sustainable_rate(&loaded, &running).unwrap();
    let [a, b] = topology.link(link).ends.map(|end| &*topology.node(end).name);
    assert!(left.rate_bps < 0.9 * running.rate_bps, "{left:?}");
    assert!(left.limit == format!("link {a}->{b}") || left.limit == format!("link {b}->{a}"), "{left:?}");
    let plan = made(&loaded, &keeping(&running));
    assert!(plan.rate_bps > 1.1 * left.rate_bps);
    assert_eq!(plan.shards, running.shards);
}

/// Two jobs on the workers of k = 6, on the same servers.
fn two_jobs() -> Topology {
    let topology = k6();
    let job = &topology.jobs()[0];
    let (one, two) = job.workers.split_at(20);
    let half = |name: &str, workers: &[inart_topologies::switched::NodeId]| inart_topologies::switched::Job {
        name: name.to_owned(),
        workers: workers.to_vec(),
        ..job.clone()
    };
    topology.with_jobs(vec![half("one", one), half("two", two)])
}

#[test]
fn several_jobs_are_replanned_next_to_each_other() {
    let topology = two_jobs();
    let running = plan_all(&topology, &Options::new(schemes::OPTIMIZED)).unwrap();
    let stated: Vec<f64> = running.iter().map(|plan| plan.rate_bps).collect();
    let now = sustainable_rates(&topology, &running).unwrap();
    for (now, stated) in now.iter().zip(&stated) {
        assert!((now.rate_bps - stated).abs() < 1e-6 * stated, "{now:?} {stated}");
    }
    let link = busiest(&topology, &running[0]);
    let left = topology.without(&[link], &[]);
    let broken = sustainable_rates(&left, &running).unwrap();
    assert!(broken[0].rate_bps == 0.0, "{broken:?}");
    let options = Options { keep_shares: true, ..Options::new(schemes::OPTIMIZED) };
    let plans = plan_again(&left, &running, &options).unwrap();
    for (plan, before) in plans.iter().zip(&running) {
        assert_eq!(plan.shards, before.shards, "{}", plan.job);
        assert!(plan.rate_bps > 0.8 * before.rate_bps, "{} {} {}", plan.job, plan.rate_bps, before.rate_bps);
    }
    let min_rate_bps = plans.iter().map(|plan| plan.rate_bps).fold(f64::INFINITY, f64::min);
    let name = topology.name().to_owned();
    let order = Order::Together;
    let all = JobPlans { topology: name, order, plans, min_rate_bps, max_min_bound_bps: None, solve_ms: 0.0 };
    assert_eq!(check_jobs(&left, &all), Ok(()));
}

#[test]
fn background_that_is_no_rate_is_none() {
    let topology = fig1();
    let mut background = topology.background();
    background.links.iter_mut().for_each(|bps| *bps = [f64::NAN, -1.0]);
    background.nodes.iter_mut().for_each(|bps| *bps = 7.0);
    let loaded = topology.with_background(&background);
    assert!(loaded.links().iter().all(|link| link.background_bps == [0.0; 2]));
    let workers =
        loaded.nodes().iter().filter(|node| node.kind == inart_topologies::switched::NodeKind::Worker);
    assert!(workers.into_iter().all(|node| node.background_bps == 0.0));
}

#[test]
fn shares_of_other_servers_cannot_be_kept() {
    let topology = fig1();
    let running = made(&topology, &Options::new(schemes::OPTIMIZED));
    let mut job = topology.jobs()[0].clone();
    let lost = topology.node(job.servers.pop().unwrap()).name.clone();
    let fewer = topology.with_jobs(vec![job]);
    let refused = plan(&fewer, &fewer.jobs()[0], &keeping(&running)).unwrap_err();
    assert!(matches!(&refused, PlanError::Shares { what, .. } if what.contains(&lost)), "{refused}");
    let mut unknown = running.clone();
    unknown.shards.pop();
    let refused = plan(&topology, &topology.jobs()[0], &keeping(&unknown)).unwrap_err();
    assert!(refused.to_string().contains("it states none for server"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 30,
        rng_seed: proptest::test_runner::RngSeed::Fixed(13),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// For any failed or loaded link: a plan with the same shares holds there, and is no worse than the
    /// active plan there.
    #[test]
    fn kept_shares_are_kept_and_no_plan_is_worse(
        text in networks::document(),
        link: prop::sample::Index,
        part in 0.0f64..1.2,
    ) {
        let before = Topology::from_yaml(&text).unwrap();
        let job = before.jobs().last().unwrap();
        let Ok(running) = plan(&before, job, &Options::new(schemes::OPTIMIZED)) else { return Ok(()) };
        let id = before.link_ids().nth(link.index(before.links().len())).unwrap();
        let after = if part > 1.0 {
            before.without(&[id], &[])
        } else {
            let mut background = before.background();
            background.links[id.index()] = [part * before.link(id).rate_bps(), 0.0];
            before.with_background(&background)
        };
        let left = sustainable_rate(&after, &running).unwrap();
        let Ok(plan) = plan(&after, after.jobs().last().unwrap(), &keeping(&running)) else {
            prop_assert!(part > 1.0 || left.rate_bps <= 1e-6 * running.rate_bps, "{left:?}");
            return Ok(());
        };
        prop_assert_eq!(check(&after, &plan), Ok(()));
        prop_assert_eq!(&plan.shards, &running.shards);
        prop_assert!(plan.rate_bps >= left.rate_bps * (1.0 - 1e-6), "{} {:?}", plan.rate_bps, left);
        prop_assert!(plan.rate_bps <= plan.bounds.integral_bps * (1.0 + 1e-6));
    }
}
