//! Plans of groups that push in turn: concurrent use, and refusals.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use inart_planner_aggregation::{Plan, check};
use inart_planner_ps::{RackError, Racks};
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::{Job, Topology};

const FIG1: &str = include_str!("../../../topologies/fig1.yaml");

fn fig1() -> Topology {
    Topology::from_yaml(FIG1).unwrap()
}

fn tree(workers: usize, seed: u64) -> Topology {
    let equipment = Equipment {
        servers: 4,
        workers,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 1,
        seed,
    };
    fat_tree(6, &equipment).unwrap()
}

fn in_groups(topology: &Topology, groups: usize) -> Racks {
    Racks::plan(topology, &topology.jobs()[0], groups).unwrap()
}

/// Returns the resources that a plan uses, in bit/s, counted along its paths: directed links, aggregation of
/// switches, servers.
fn used(plan: &Plan) -> BTreeMap<String, f64> {
    let share = |server: &str| plan.shards.iter().find(|shard| shard.server == server).unwrap().share;
    let mut all = BTreeMap::new();
    let mut add =
        |name: String, server: &str| *all.entry(name).or_insert(0.0) += plan.rate_bps * share(server);
    let mut path = |server: &str, nodes: &[String]| {
        nodes.windows(2).for_each(|hop| add(format!("{}>{}", hop[0], hop[1]), server));
        add(format!("into {}", nodes.last().unwrap()), server);
    };
    plan.flows.iter().for_each(|flow| path(&flow.server, &flow.path));
    plan.trunks.iter().for_each(|trunk| path(&trunk.server, &trunk.path));
    for tree in &plan.results {
        tree.links.iter().for_each(|[from, to]| add(format!("{from}>{to}"), &tree.server));
    }
    all
}

fn capacity(topology: &Topology, name: &str) -> f64 {
    let id = |name: &str| topology.node_named(name).unwrap();
    if let Some(node) = name.strip_prefix("into ") {
        let node = topology.node(id(node));
        return node.ingress_bps.unwrap_or(node.aggregation_bps);
    }
    let (from, to) = name.split_once('>').unwrap();
    topology.link(topology.link_between(id(from), id(to)).unwrap()).rate_bps()
}

/// Any combination of as many groups as may push at once exceeds no capacity; with one more, some do.
#[test]
fn groups_that_push_at_once_exceed_no_capacity() {
    for (topology, numbers) in [(fig1(), [2, 3, 6]), (tree(50, 1), [2, 6, 18]), (tree(8, 3), [2, 4, 8])] {
        for groups in numbers {
            let racks = in_groups(&topology, groups);
            let mut members: Vec<usize> = racks.groups.iter().flat_map(|g| g.members.clone()).collect();
            members.sort_unstable();
            assert_eq!(members, (0..topology.jobs()[0].workers.len()).collect::<Vec<_>>());
            let mut by_resource: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for group in &racks.groups {
                for (name, bps) in used(&group.plan) {
                    by_resource.entry(name).or_default().push(bps);
                }
                let shares: Vec<f64> = group.plan.shards.iter().map(|shard| shard.share).collect();
                assert!(shares.iter().all(|share| (share - shares[0]).abs() < 1e-9), "{shares:?}");
                assert!(group.plan.rate_bps <= group.plan.bound_bps() * (1.0 + 1e-6));
            }
            let mut is_tight = racks.concurrent_groups == groups;
            for (name, mut uses) in by_resource {
                uses.sort_by(|a, b| b.total_cmp(a));
                let most = capacity(&topology, &name);
                let together = |count: usize| uses.iter().take(count).sum::<f64>();
                assert!(
                    together(racks.concurrent_groups) <= most * (1.0 + 2e-6),
                    "{name}: {uses:?} of {most}"
                );
                is_tight |= together(racks.concurrent_groups + 1) > most;
            }
            assert!(is_tight, "{groups} groups: more than {} at once would do", racks.concurrent_groups);
        }
    }
}

/// Returns findings of the planner's checker on a group's plan.
#[test]
fn plans_of_groups_pass_the_checker() {
    let topology = fig1();
    for (group, racks) in in_groups(&topology, 2).groups.iter().zip([0..4, 4..6]) {
        let mut own = topology.jobs()[0].clone();
        own.name.clone_from(&group.plan.job);
        own.workers = own.workers[racks].to_vec();
        assert!(check(&topology.with_jobs(vec![own]), &group.plan).is_ok());
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let topology = fig1();
    let planned = &topology.jobs()[0];
    for groups in [0, 7] {
        let error = Racks::plan(&topology, planned, groups).unwrap_err();
        assert!(matches!(error, RackError::Groups { .. }));
        assert!(error.to_string().contains("give a number from 1 to 6"), "{error}");
    }
    let exact = Job { exact: true, ..planned.clone() };
    assert!(matches!(Racks::plan(&topology, &exact, 2), Err(RackError::Exact(_))));
}
