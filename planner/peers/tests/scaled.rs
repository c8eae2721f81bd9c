//! Scaled-down networks: plans stay the same, and take longer by the stated factor.
#![allow(clippy::unwrap_used)]

use inart_planner_peers::{Multicast, Options, Scheme, plan};
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
fn a_smaller_network_has_the_same_plans_in_another_time() {
    let mesh = Mesh::from_yaml(NETWORK).unwrap();
    // A tenth of the update at a hundredth of the rates: ten times as long.
    let (smaller, time) = mesh.scaled(&mesh.jobs()[0], 10_000.0, 0.01);
    assert!((time - 10.0).abs() < 1e-9, "{time}");
    let [job] = smaller.jobs() else { panic!("{:?}", smaller.jobs()) };
    assert_eq!((&*job.name, &job.update_bytes[..]), ("one", &[10_000.0; 3][..]));
    assert!(job.computes.iter().all(|compute| (compute.mean_seconds - 20.0).abs() < 1e-9));
    for scheme in [Scheme::Optimized, Scheme::Selmcast, Scheme::Orpheus] {
        let options = Options::new(scheme, Multicast::Hosts);
        let plans =
            [(&mesh, &mesh.jobs()[0]), (&smaller, job)].map(|(mesh, job)| plan(mesh, job, &options).unwrap());
        assert_eq!(plans[0].tasks, plans[1].tasks);
        assert!((plans[1].seconds / plans[0].seconds - 10.0).abs() < 1e-6, "{plans:?}");
    }
    assert_eq!(smaller.next_change(job, 0.0), Some(100.0));
    assert!((smaller.ports_at(job, 100.0).down_bps[1] - 60e3).abs() < 1e-6);
    assert!((smaller.peers()[1].delay_seconds - 0.03).abs() < 1e-12);
    // A written topology is read back unchanged.
    let again = Mesh::from_yaml(&smaller.to_yaml()).unwrap();
    assert_eq!((again.peers(), again.jobs()), (smaller.peers(), smaller.jobs()));
}
