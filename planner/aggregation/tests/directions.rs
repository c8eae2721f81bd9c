//! Links whose two directions have different rates.

#![allow(clippy::unwrap_used)]

use inart_planner_aggregation::{Options, check, plan, schemes};
use inart_topologies::switched::Topology;

const GOOD: &str = "\
name: small
nodes:
  - {name: v1, kind: switch, aggregation_capacity: 6 Gbps}
  - {name: s1, kind: server, ingress_capacity: 4 Gbps}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
links:
  - {ends: [w1, v1], rate: 6 Gbps, delay: 10 us}
  - {ends: [w2, v1], rate: 9e6 bps}
  - {ends: [v1, s1], rate: 20Mbps}
background:
  - {link: [s1, v1], rate: 1 Mbps}
  - {node: v1, rate: 500 Mbps}
jobs:
  - {name: vgg19, workers: [w1, w2], servers: [s1], gradient: 548 MB}
";

/// A worker sends at the rate up to its switch, and receives results at the rate down.
#[test]
fn plans_keep_to_the_rate_of_each_direction() {
    let planned = |rate: &str| {
        let text = GOOD.replacen("rate: 6 Gbps, delay", &format!("rate: {rate}, delay"), 1);
        let text = text
            .replace("9e6 bps", "9 Gbps")
            .replace("20Mbps", "20 Gbps")
            .replace("ingress_capacity: 4 Gbps", "ingress_capacity: 9 Gbps");
        let topology = Topology::from_yaml(&text.replace("500 Mbps", "0")).unwrap();
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::DEFAULT)).unwrap();
        check(&topology, &plan).unwrap();
        plan.rate_bps
    };
    let both = planned("2 Gbps");
    assert!((both - 2e9).abs() < 1.0, "{both}");
    assert!((planned("[2 Gbps, 6 Gbps]") - both).abs() < 1.0, "the uplink is the slower direction");
    assert!((planned("[6 Gbps, 2 Gbps]") - both).abs() < 1.0, "results return at 2 Gbit/s");
    assert!(planned("[6 Gbps, 3 Gbps]") > both);
}
