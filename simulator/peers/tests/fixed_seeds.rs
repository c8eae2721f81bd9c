//! Runs of fixed seeds end as they did before peers ran on `inart_world::World`: `data/fixed-seeds.txt` was
//! recorded with this crate's previous event loop.
#![allow(clippy::unwrap_used)]

use inart_peers_agent::Sync;
use inart_planner_peers::{Multicast, Reading, Scheme};
use inart_simulator_peers::{Options, Until, simulate};
use inart_topologies::peers::Mesh;

const RECORDED: &str = include_str!("data/fixed-seeds.txt");

/// Losses and delays; a trace; equal ports and times, so that many events have one time; no compute times,
/// and delays as long as a report takes.
const NETWORKS: [(&str, &str); 4] = [
    ("lossy", include_str!("data/lossy.yaml")),
    ("traced", include_str!("data/traced.yaml")),
    ("still", include_str!("data/still.yaml")),
    ("no-compute", include_str!("data/no-compute.yaml")),
];

fn options(scheme: &str, multicast: &str, sync: &str) -> Options {
    let is_bsp = sync == "bsp";
    Options {
        scheme: Scheme::ALL.into_iter().find(|known| known.name() == scheme).unwrap(),
        given: None,
        reading: Reading { eta: 0.75, ..Reading::default() },
        multicast: Multicast::named(multicast).unwrap(),
        sync: if is_bsp { Sync::Bsp } else { Sync::Ssp { staleness: 4 } },
        force_after: (!is_bsp).then_some(4),
        until: if is_bsp { Until::Rounds(6) } else { Until::Seconds(6.0) },
        chunks: 100,
        seed: if is_bsp { 3 } else { 4 },
    }
}

#[test]
fn runs_of_fixed_seeds_end_as_recorded() {
    let mut differ = Vec::new();
    for line in RECORDED.lines() {
        let [network, scheme, multicast, sync, recorded] = line.splitn(5, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (_, text) = NETWORKS.into_iter().find(|(name, _)| *name == network).unwrap();
        let mesh = Mesh::from_yaml(text).unwrap();
        let outcome = simulate(&mesh, &mesh.jobs()[0], &options(scheme, multicast, sync)).unwrap();
        let now = serde_json::to_string(&outcome).unwrap();
        if now != recorded {
            differ.push(format!("{network} {scheme} {multicast} {sync}\n  {now}\n  {recorded}"));
        }
    }
    assert!(differ.is_empty(), "{} runs differ:\n{}", differ.len(), differ.join("\n"));
    assert_eq!(RECORDED.lines().count(), 42);
}
