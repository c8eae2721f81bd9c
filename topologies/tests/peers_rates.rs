//! Rates of ports that others use in part.

use inart_topologies::peers::Mesh;

const NETWORK: &str = "\
name: m
nodes: [{name: s, kind: switch}, {name: a, kind: peer}, {name: b, kind: peer}, {name: c, kind: peer}]
links:
  - {ends: [a, s], rate: [8 Mbps, 40 Mbps]}
  - {ends: [b, s], rate: [20 Mbps, 30 Mbps], delay: 3 ms}
  - {ends: [c, s], rate: 25 Mbps}
traces:
  - {link: [s, b], every: 10 s, rates: [30 Mbps, 6 Mbps]}
jobs:
  - {name: one, receivers: 1, update: 100 KB, compute: {mean: 2 s, cv: 0.5}}
  - {name: two, receivers: 2, update: 1 MB}
";

#[test]
fn what_others_take_of_ports_is_not_there_at_any_time() {
    let mesh = Mesh::from_yaml(NETWORK).unwrap();
    let job = &mesh.jobs()[0];
    let less = mesh.with_rates_less(2e6, 5e6, 0.25);
    assert_eq!(less.ports_at(job, 0.0).up_bps, [6e6, 18e6, 23e6]);
    assert_eq!(less.ports_at(job, 0.0).down_bps, [35e6, 25e6, 20e6]);
    // Of the 6 Mbps that the trace leaves, a quarter stays.
    assert_eq!(less.ports_at(job, 10.0).down_bps, [35e6, 1.5e6, 20e6]);
    assert_eq!((less.jobs(), less.peers()[1].delay_seconds), (mesh.jobs(), 0.003));
}
