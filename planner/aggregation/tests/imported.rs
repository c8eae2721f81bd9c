//! Imported networks of other tools have plans.

#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{Options, check, plan, schemes};
use inart_topologies::switched::import::{Format, Hosts, ImportOptions, import};

pub const SAMPLES: [(&str, Format, &str); 5] = [
    ("zoo.graphml", Format::Graphml, include_str!("../../../topologies/tests/data/zoo.graphml")),
    ("leafspine.dot", Format::Dot, include_str!("../../../topologies/tests/data/leafspine.dot")),
    ("ring.json", Format::Networkx, include_str!("../../../topologies/tests/data/ring.json")),
    ("lab.clab.yml", Format::Containerlab, include_str!("../../../topologies/tests/data/lab.clab.yml")),
    ("mininet.txt", Format::Mininet, include_str!("../../../topologies/tests/data/mininet.txt")),
];

pub fn options() -> ImportOptions {
    ImportOptions {
        name: "net".into(),
        servers: None,
        workers: None,
        hosts_per_switch: None,
        rate_bps: 10e9,
        unit_bps: 1e6,
        aggregation_bps: 5e9,
        ingress_bps: None,
        delay_seconds: 0.0,
        mtu: 1500,
        gradient_bytes: 100_000_000,
        seed: 1,
    }
}

/// Uses one or two servers by turns.
#[test]
fn every_scheme_plans_what_was_imported() {
    for (seed, sample) in (1..).zip(SAMPLES) {
        every_scheme_plans(sample, [1 + seed % 2]);
    }
}

#[test]
#[ignore = "soak: about 20 s"]
fn every_scheme_plans_what_was_imported_with_three_seeds() {
    SAMPLES.into_iter().for_each(|sample| every_scheme_plans(sample, 1..4));
}

fn every_scheme_plans((file, format, text): (&str, Format, &str), seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        let servers = Some(Hosts::Count(1 + seed as usize % 2));
        let topology = import(text, format, &ImportOptions { seed, servers, ..options() }).unwrap().topology;
        for &scheme in schemes::ALL {
            let plan = plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap();
            assert_eq!(check(&topology, &plan), Ok(()), "{file} {scheme}");
        }
    }
}
