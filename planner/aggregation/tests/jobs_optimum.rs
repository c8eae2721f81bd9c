//! Several jobs on star networks of switches with wide links: the smallest rate compared with the best of all
//! placements, which is simple arithmetic there.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use inart_planner_aggregation::{Options, Order, check_jobs, plan_jobs, schemes};
use inart_topologies::switched::{Job, Topology};

use crate::narrow::Draws;

/// Mbps of the switches that sum and of the servers, and each job's workers and server.
#[derive(Debug)]
struct Star {
    switches: Vec<usize>,
    servers: Vec<usize>,
    jobs: Vec<(usize, usize)>,
}

impl Star {
    fn drawn(draws: &mut Draws) -> Self {
        let jobs = 2 + usize::from(draws.below(4) == 0);
        let most = if jobs == 2 { 3 } else { 2 };
        let servers = 1 + draws.below(2);
        Star {
            switches: (0..1 + draws.below(3)).map(|_| 3 + draws.below(12)).collect(),
            servers: (0..servers).map(|_| 5 + draws.below(20)).collect(),
            jobs: (0..jobs).map(|_| (1 + draws.below(most + 1), draws.below(servers))).collect(),
        }
    }

    fn topology(&self) -> Topology {
        let mut nodes = String::from("  - {name: core, kind: switch}\n");
        let mut links = String::new();
        let mut add = |name: &str, entry: String| {
            let _ = writeln!(nodes, "  - {{name: {name}, {entry}}}");
            let _ = writeln!(links, "  - {{ends: [{name}, core], rate: 900 Mbps}}");
        };
        for (v, mbps) in self.switches.iter().enumerate() {
            add(&format!("v{v}"), format!("kind: switch, aggregation_capacity: {mbps} Mbps"));
        }
        for (s, mbps) in self.servers.iter().enumerate() {
            add(&format!("s{s}"), format!("kind: server, ingress_capacity: {mbps} Mbps"));
        }
        let mut jobs = String::new();
        for (j, (workers, server)) in self.jobs.iter().enumerate() {
            let names: Vec<String> = (0..*workers).map(|w| format!("w{j}{w}")).collect();
            names.iter().for_each(|name| add(name, "kind: worker".to_owned()));
            let names = names.join(", ");
            let _ = writeln!(jobs, "  - {{name: j{j}, workers: [{names}], servers: [s{server}]}}");
        }
        Topology::from_yaml(&format!("name: star\nnodes:\n{nodes}links:\n{links}jobs:\n{jobs}")).unwrap()
    }

    /// Returns all ways to place the workers of a job: how many are summed at each switch, the rest sent
    /// directly.
    fn placements(&self, workers: usize) -> BTreeSet<Vec<usize>> {
        let mut all = BTreeSet::from([vec![0; self.switches.len()]]);
        for _ in 0..workers {
            for placed in all.clone() {
                for v in 0..placed.len() {
                    let mut more = placed.clone();
                    more[v] += 1;
                    all.insert(more);
                }
            }
        }
        all
    }

    /// Returns the largest rate that all jobs can have, Mbps: over all placements, the limit of the fullest
    /// switch or server.
    fn smallest_rate(&self) -> f64 {
        let none = (vec![0; self.switches.len()], vec![0; self.servers.len()]);
        let mut sets: BTreeSet<(Vec<usize>, Vec<usize>)> = BTreeSet::from([none]);
        for &(workers, server) in &self.jobs {
            let mut next = BTreeSet::new();
            for placed in self.placements(workers) {
                let summed: usize = placed.iter().sum();
                let units = workers - summed + placed.iter().filter(|&&count| count > 0).count();
                for (at_switches, at_servers) in &sets {
                    let mut at_servers = at_servers.clone();
                    at_servers[server] += units;
                    next.insert((at_switches.iter().zip(&placed).map(|(a, b)| a + b).collect(), at_servers));
                }
            }
            sets = next;
        }
        let rate = |(at_switches, at_servers): &(Vec<usize>, Vec<usize>)| {
            let switches = at_switches.iter().zip(&self.switches);
            let all = switches.chain(at_servers.iter().zip(&self.servers));
            all.filter(|(units, _)| **units > 0)
                .map(|(&units, &mbps)| mbps as f64 / units as f64)
                .fold(900.0, f64::min)
        };
        sets.iter().map(rate).fold(0.0, f64::max)
    }
}

/// Compares the smallest rate with the best possible one.
fn compare(star: &Star) {
    let topology = star.topology();
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    let plans = plan_jobs(&topology, &jobs, &Options::new(schemes::OPTIMIZED), Order::Together).unwrap();
    check_jobs(&topology, &plans).unwrap();
    let (found, best) = (plans.min_rate_bps / 1e6, star.smallest_rate());
    assert!((found / best - 1.0).abs() < 1e-6, "{found} of {best}: {star:?}");
    let bound = plans.max_min_bound_bps.unwrap().into_iter().fold(f64::INFINITY, f64::min) / 1e6;
    assert!(bound >= best * (1.0 - 1e-6), "{bound} {best}: {star:?}");
}

/// Each job sums two workers at a separate switch and sends the third directly: 20 / 4. A job that is limited
/// by its own switch has to displace the other one.
#[test]
fn two_alike_jobs() {
    compare(&Star { switches: vec![12, 12], servers: vec![20], jobs: vec![(3, 0), (3, 0)] });
}

#[test]
fn small_sets_have_the_best_smallest_rate() {
    let mut draws = Draws(5);
    for _ in 0..40 {
        compare(&Star::drawn(&mut draws));
    }
}

/// One worker is in both jobs, and the server is the bottleneck: each job can have 1.39 Mbps.
#[test]
fn jobs_that_share_workers() {
    let text = "
name: shared
nodes:
  - {name: v0, kind: switch, aggregation_capacity: 0}
  - {name: v1, kind: switch, aggregation_capacity: 3660000 bps}
  - {name: v2, kind: switch, aggregation_capacity: 3660000 bps}
  - {name: v3, kind: switch, aggregation_capacity: 3660000 bps}
  - {name: s0, kind: server, ingress_capacity: 5560000 bps}
  - {name: w0, kind: worker}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [v0, v1], rate: 200000000 bps}
  - {ends: [v1, v2], rate: 200000000 bps}
  - {ends: [v1, v3], rate: 200000000 bps}
  - {ends: [v2, v3], rate: 200000000 bps}
  - {ends: [s0, v2], rate: 200000000 bps}
  - {ends: [w0, v2], rate: 200000000 bps}
  - {ends: [w1, v0], rate: 200000000 bps}
  - {ends: [w2, v3], rate: 200000000 bps}
  - {ends: [w3, v2], rate: 200000000 bps}
jobs:
  - {name: j0, workers: [w2, w1, w3], servers: [s0]}
  - {name: j1, workers: [w0, w3, w2], servers: [s0]}
";
    let topology = Topology::from_yaml(text).unwrap();
    let jobs: Vec<&Job> = topology.jobs().iter().collect();
    let plans = plan_jobs(&topology, &jobs, &Options::new(schemes::OPTIMIZED), Order::Together).unwrap();
    check_jobs(&topology, &plans).unwrap();
    // Two units of each job at the server.
    assert!((plans.min_rate_bps / (5.56e6 / 4.0) - 1.0).abs() < 1e-6, "{}", plans.min_rate_bps);
}
