//! Random small networks: every scheme's plan passes the checker, ours is never worse than R-InArt's best nor above
//! the bound, and agrees with the exact optimum.

#![allow(clippy::unwrap_used)]

use inart_planner::{Options, Plan, Scheme, Topology, check, plan};
use proptest::prelude::*;

/// A connected network of a few switches with hosts, as text; some links loaded, some switches only forwarding.
fn document() -> impl Strategy<Value = String> {
    let switch = (0u32..3, 2u32..15);
    let link = (2u32..12, 0usize..8);
    (
        prop::collection::vec(switch, 1..5),
        prop::collection::vec(link.clone(), 4..5),
        prop::collection::vec((0usize..8, 0usize..8, 2u32..12), 0..4),
        prop::collection::vec((1u32..20, 0usize..8), 1..3),
        prop::collection::vec((3u32..25, 0usize..8), 1..6),
        prop::option::of(0u32..2),
    )
        .prop_map(|(switches, tree, extra, servers, workers, background)| {
            let count = switches.len();
            let mut nodes = String::new();
            let mut links = std::collections::BTreeMap::new();
            for (i, (kind, capacity)) in switches.iter().enumerate() {
                let aggregation = if *kind == 0 { 0 } else { *capacity };
                nodes += &format!("  - {{name: v{i}, kind: switch, aggregation: {aggregation} Mbps}}\n");
                if i > 0 {
                    let (rate, parent) = tree[i - 1];
                    links.insert((format!("v{}", parent % i), format!("v{i}")), rate);
                }
            }
            for (a, b, rate) in extra {
                let (a, b) = (a % count, b % count);
                if a < b {
                    links.entry((format!("v{a}"), format!("v{b}"))).or_insert(rate);
                }
            }
            for (i, (ingress, at)) in servers.iter().enumerate() {
                nodes += &format!("  - {{name: s{i}, kind: server, ingress: {ingress} Mbps}}\n");
                links.insert((format!("s{i}"), format!("v{}", at % count)), 20);
            }
            for (i, (rate, at)) in workers.iter().enumerate() {
                nodes += &format!("  - {{name: w{i}, kind: worker}}\n");
                links.insert((format!("w{i}"), format!("v{}", at % count)), *rate);
                // Some workers hang on two switches.
                if rate % 5 == 0 && count > 1 {
                    links.insert((format!("w{i}"), format!("v{}", (at + 1) % count)), 7);
                }
            }
            let loaded = links.keys().next().cloned();
            let links: String = links
                .iter()
                .map(|((a, b), rate)| format!("  - {{ends: [{a}, {b}], rate: {rate} Mbps}}\n"))
                .collect();
            let background = match (background, loaded) {
                (Some(rate), Some((a, b))) => {
                    format!("background:\n  - {{link: [{b}, {a}], rate: {rate} Mbps}}\n")
                }
                _ => String::new(),
            };
            format!("name: random\nnodes:\n{nodes}links:\n{links}{background}")
        })
}

fn made(topology: &Topology, options: &Options<'_>) -> Plan {
    let plan = plan(topology, &topology.jobs()[0], options).unwrap();
    let checked = check(topology, &plan);
    assert!(checked.is_ok(), "{}: {:?}\n{}", options.scheme, checked, topology.to_yaml());
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_holds(text in document(), seed in 0u64..1000, equal_shares: bool) {
        let topology = Topology::from_yaml(&text).unwrap();
        for scheme in Scheme::ALL.into_iter().filter(|&scheme| scheme != Scheme::Exact) {
            made(&topology, &Options { seed, equal_shares, ..Options::new(scheme) });
        }
    }

    #[test]
    fn ours_beats_thirty_roundings(text in document(), first in 0u64..1000, equal_shares: bool) {
        let topology = Topology::from_yaml(&text).unwrap();
        let options = |scheme, seed| Options { seed, equal_shares, ..Options::new(scheme) };
        let ours = made(&topology, &options(Scheme::Inart, first));
        for seed in first..first + 30 {
            let rounded = made(&topology, &options(Scheme::RInart, seed));
            prop_assert!(ours.rate_bps >= rounded.rate_bps * (1.0 - 1e-6), "{} < {}", ours.rate_bps, rounded.rate_bps);
        }
    }

    #[test]
    fn the_bound_holds_for_the_optimum(text in document(), equal_shares: bool) {
        let topology = Topology::from_yaml(&text).unwrap();
        let options = |scheme| Options { equal_shares, ..Options::new(scheme) };
        let ours = made(&topology, &options(Scheme::Inart));
        // The largest of these networks are too large for the integer program.
        if let Ok(best) = plan(&topology, &topology.jobs()[0], &options(Scheme::Exact)) {
            prop_assert!(check(&topology, &best).is_ok());
            prop_assert!(ours.rate_bps <= best.rate_bps * (1.0 + 1e-6), "{} > {}", ours.rate_bps, best.rate_bps);
            prop_assert!(best.rate_bps <= ours.bounds.integral_bps * (1.0 + 1e-6));
        }
    }
}
