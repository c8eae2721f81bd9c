//! Several jobs, each planned as if it were alone, and background traffic on the same links.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::fmt::Write;

use inart_planner_aggregation::{Options as Planning, plan, schemes};
use inart_simulator_aggregation::{InstalledNetwork, Options, Report, simulate};
use inart_topologies::faults::Faults;
use inart_topologies::switched::Topology;
use support::dataplane;

/// Capacity of the link between the racks, bit/s.
const TRUNK_BPS: f64 = 100e6;

/// Returns `jobs` jobs of two workers in one rack and a server in the other, all over one link of 100 Mbit/s,
/// with separate hosts.
fn dumbbell(jobs: usize) -> Topology {
    let mut nodes = String::from(
        "  - {name: v1, kind: switch, aggregation_capacity: 10 Gbps}\n  - {name: v2, kind: switch}\n",
    );
    let mut links = String::from("  - {ends: [v1, v2], rate: 100 Mbps, delay: 50 us}\n");
    let mut listed = String::new();
    let mut host = |name: &str, kind: &str, switch: &str| {
        writeln!(nodes, "  - {{name: {name}, kind: {kind}}}").unwrap();
        writeln!(links, "  - {{ends: [{name}, {switch}], rate: 100 Mbps, delay: 50 us}}").unwrap();
    };
    for job in 0..jobs {
        host(&format!("a{job}"), "worker", "v1");
        host(&format!("b{job}"), "worker", "v1");
        host(&format!("s{job}"), "server", "v2");
        writeln!(listed, "  - {{name: job{job}, workers: [a{job}, b{job}], servers: [s{job}]}}").unwrap();
    }
    host("x", "worker", "v1");
    host("y", "server", "v2");
    Topology::from_yaml(&format!("name: dumbbell\nnodes:\n{nodes}links:\n{links}jobs:\n{listed}")).unwrap()
}

fn share(jobs: usize, background: &str, queue: u32) -> Report {
    let topology = dumbbell(jobs);
    let alone = |job| plan(&topology, job, &Planning::new(schemes::ATP)).unwrap();
    let plans: Vec<_> = topology.jobs().iter().map(alone).collect();
    let network = InstalledNetwork::install(&topology, dataplane(), &plans, 64).unwrap();
    let flows = match background {
        "0" => String::new(),
        rate => format!("background: [{{from: x, to: y, rate: {rate}}}]"),
    };
    let faults = Faults::from_yaml(&format!("queue: {queue} frames\n{flows}")).unwrap();
    let options = Options { rounds: 4, gradient_values: 60_000, ..Options::default() };
    simulate(&network, &faults, &options, None).unwrap()
}

#[test]
fn jobs_that_were_planned_alone_share_a_link_fairly_and_fill_it() {
    let mut table = String::from(
        "jobs background queue | goodput per worker, each job, Mbit/s | Jain | share of the remaining link | retransmitted\n",
    );
    for jobs in [1, 2, 4, 8] {
        for (background, bps) in [("0", 0.0), ("50 Mbps", 50e6)] {
            for queue in [32, 1000] {
                let report = share(jobs, background, queue);
                assert_eq!(report.failure, None, "{jobs} jobs, background {background}, queue {queue}");
                let goodputs: Vec<_> =
                    report.jobs.iter().map(|job| format!("{:.1}", job.shared_goodput_bps / 1e6)).collect();
                let sum: f64 = report.jobs.iter().map(|job| job.shared_goodput_bps).sum();
                // Of a frame of 172 bytes, 128 are values.
                let used = sum * 172.0 / 128.0 / (TRUNK_BPS - bps);
                assert!(
                    report.jain > 0.95 && used > 0.8,
                    "{jobs} jobs, background {background}, queue {queue}: {report}"
                );
                let again: u64 = report.jobs.iter().map(|job| job.retransmissions).sum();
                writeln!(
                    table,
                    "{jobs:4} {background:>10} {queue:5} | {} | {:.3} | {:.2} | {again}",
                    goodputs.join(" "),
                    report.jain,
                    used
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!("fairness", table);
}
