//! Rates by direction and losses, which links of every kind of network may have.

use inart_topologies::faults::{Capabilities, Faults, LinkFaults, Schedule};
use inart_topologies::switched::Topology;
use inart_topologies::{Kind, Network};

const RUNNER: Capabilities = Capabilities {
    controller: false,
    scheduler: false,
    frames: true,
    lasting: false,
    worker_restart: false,
    injection: false,
    rates: false,
    connections: false,
    tcp: false,
    frame_bytes: 64..=1500,
};

const SWITCHED: &str = "name: t
nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}]
links:
  - {ends: [w, v], rate: [1 Gbps, 3 Gbps], loss: 1%}
  - {ends: [v, s], rate: 5 Gbps}
jobs:
  - {name: j, gradient: 4 MB, compute: {mean: 1 s}}
";

#[test]
fn a_link_of_hosts_may_have_a_rate_per_direction_and_a_loss() {
    let topology = Topology::from_yaml(SWITCHED).unwrap();
    let [first, second] = topology.links() else { panic!("two links") };
    assert_eq!((first.rates_bps, first.loss, first.rate_bps()), ([1e9, 3e9], 0.01, 1e9));
    assert_eq!((second.rates_bps, second.loss), ([5e9; 2], 0.0));
    for text in [topology.to_yaml(), topology.to_json()] {
        assert_eq!(Topology::from_yaml(&text).unwrap().links(), topology.links(), "{text}");
    }
    for (rate, named) in [("[1 Gbps, 0]", "rate is 0"), ("[1 Gbps]", "neither one rate nor a list of two")] {
        let error = Topology::from_yaml(&SWITCHED.replace("[1 Gbps, 3 Gbps]", rate)).unwrap_err().to_string();
        assert!(error.starts_with("line 4: ") && error.contains(named), "{error}");
    }
    let error = Topology::from_yaml(&SWITCHED.replace("1%", "100%")).unwrap_err().to_string();
    assert!(error.starts_with("line 4: link w-v: loss"), "{error}");
}

#[test]
fn participants_have_the_rates_of_their_directions() {
    let Network::Switched(network) = Network::from_yaml(&SWITCHED.replace(", loss: 1%", "")).unwrap() else {
        panic!("switches")
    };
    let cluster = network.training().unwrap();
    let nic = cluster.jobs[0].participants[0].nic;
    assert_eq!((nic.out_bps, nic.in_bps), (1e9, 3e9));
    let star = inart_topologies::ps::star("t", "s", &cluster.jobs[0], 4_000_000).to_yaml();
    let Network::Switched(again) = Network::from_yaml(&star).unwrap() else { panic!("switches") };
    assert_eq!(again.training().unwrap().jobs, cluster.jobs, "{star}");
    let Network::Switched(lossy) = Network::from_yaml(SWITCHED).unwrap() else { panic!("switches") };
    assert!(lossy.training().unwrap_err().to_string().contains("link w-v: it loses frames"));
}

#[test]
fn schedules_lose_what_the_network_loses_unless_an_entry_is_about_the_link() {
    let topology = Topology::from_yaml(SWITCHED).unwrap();
    let drops = |faults: &str, default: &str| -> Vec<[f64; 2]> {
        let default = LinkFaults { drop: default.parse().unwrap(), ..LinkFaults::default() };
        let faults = Faults::from_yaml(faults).unwrap();
        let schedule = Schedule::with_default(&topology, &faults, &RUNNER, &default).unwrap();
        schedule.links.iter().map(|ways| [ways[0].drop.get(), ways[1].drop.get()]).collect()
    };
    assert_eq!(drops("{}", "0"), [[0.01; 2], [0.0; 2]]);
    let both = drops("{}", "50%");
    assert!((both[0][0] - 0.505).abs() < 1e-12 && both[1] == [0.5; 2], "{both:?}");
    assert_eq!(drops("{links: [{link: [w, v], drop: 3%}]}", "0"), [[0.03, 0.01], [0.0; 2]]);
}

#[test]
fn every_kind_writes_rates_and_losses_back() {
    for (kind, text) in [
        (Kind::Switched, SWITCHED.to_owned()),
        (
            Kind::Sites,
            "name: t
nodes: [{name: a, kind: site}, {name: b, kind: site}]
links: [{ends: [a, b], rate: [1 Gbps, 1234567.5 bps], loss: 0.02%, delay: 30 ms}]
jobs: [{name: j, gradient: 4 MB}]
"
            .to_owned(),
        ),
        (
            Kind::Peers,
            "name: t
nodes: [{name: v, kind: switch}, {name: a, kind: peer}, {name: b, kind: peer}]
links: [{ends: [a, v], rate: [1 Gbps, 2 Gbps], loss: 0.1}, {ends: [v, b], rate: 3 Gbps, delay: 1 us}]
jobs: [{name: j, receivers: 1, update: 4 MB, compute: {overrides: {a: {mean: 1 s}, b: {mean: 2 s, cv: 0.5}}}}]
"
            .to_owned(),
        ),
    ] {
        let network = Network::from_yaml(&text).unwrap();
        assert_eq!(network.kind(), kind);
        let written = network.to_yaml();
        let again = Network::from_yaml(&written).unwrap();
        assert_eq!(again.to_yaml(), written);
        assert!(written.contains("loss: "), "{written}");
        if kind == Kind::Switched {
            assert!(
                written.contains("compute: {mean: 1 s}"),
                "the training settings of jobs stay: {written}"
            );
        }
    }
}

/// Processes add the time that a rate holds, and the time of more samples, to their clocks.
#[test]
fn times_that_no_clock_counts_are_refused() {
    let sites = "name: t
nodes: [{name: a, kind: site}, {name: b, kind: site}]
links: [{ends: [a, b], rate: 20 Mbps}]
traces:
  - {link: [a, b], every: EVERY, rates: [20 Mbps, 10 Mbps]}
jobs: [{name: j, gradient: 4 MB}]
";
    let peers = "name: t
nodes: [{name: v, kind: switch}, {name: a, kind: peer}, {name: b, kind: peer}]
links: [{ends: [a, v], rate: 20 Mbps}, {ends: [b, v], rate: 20 Mbps}]
traces:
  - {link: [a, v], every: EVERY, rates: [20 Mbps, 10 Mbps]}
jobs: [{name: j, receivers: 1, update: 4 MB}]
";
    for text in [sites, peers] {
        for every in ["180 s", "1 ns", "1e-300 s", "1e7 s"] {
            assert!(Network::from_yaml(&text.replace("EVERY", every)).is_ok(), "{every}");
        }
        for every in ["1e300 s", "1e20 s", "1.1e7 s", "0", "-1 s", ".nan", ".inf"] {
            let error = Network::from_yaml(&text.replace("EVERY", every)).unwrap_err().to_string();
            assert!(error.contains("trace of a to ") && error.contains("every"), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
    let speed = |speed: &str| {
        let text = SWITCHED
            .replace(", loss: 1%", "")
            .replace("mean: 1 s", &format!("mean: 1 s, samples_per_second: {speed}"));
        let Network::Switched(network) = Network::from_yaml(&text).unwrap() else { panic!("switches") };
        network.training().map(drop)
    };
    for right in ["429", "1e-6", "1e12"] {
        assert!(speed(right).is_ok(), "{right}");
    }
    for wrong in ["1e-300", "0", "-1", "1e300", ".nan"] {
        let error = speed(wrong).unwrap_err().to_string();
        assert!(error.contains("the speed of w is"), "{error}");
    }
}
