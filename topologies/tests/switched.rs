//! Every bad topology gets one line that names the place and the fix; every good one reads back as it was
//! written.

#![allow(clippy::unwrap_used)]

use inart_topologies::switched::generate::{Equipment, fat_tree, leaf_spine, random_regular};
use inart_topologies::switched::ranges::Ranges;
use inart_topologies::switched::{NodeKind, Topology};

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

fn equipment(servers: usize, workers: usize) -> Equipment {
    Equipment {
        servers,
        workers,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 1e-5,
        gradient_bytes: 548_000,
        seed: 1,
    }
}

#[test]
fn reads_every_field() {
    let topology = Topology::from_yaml(GOOD).unwrap();
    let v1 = topology.node_named("v1").unwrap();
    let s1 = topology.node_named("s1").unwrap();
    assert_eq!(topology.node(v1).aggregation_bps, 6e9);
    assert_eq!(topology.node(v1).background_bps, 500e6);
    assert_eq!(topology.node(s1).ingress_bps, Some(4e9));
    let link = topology.link(topology.link_between(s1, v1).unwrap());
    assert_eq!((link.rate_bps(), link.background_bps), (20e6, [0.0, 1e6]));
    assert_eq!(topology.links()[0].delay_seconds, 1e-5);
    assert_eq!(topology.jobs()[0].gradient_bytes, Some(548_000_000));
    assert_eq!(topology.neighbors(v1).count(), 3);
}

#[test]
fn a_job_may_be_elastic() {
    let elastic = |text: &str| Topology::from_yaml(text).map(|topology| topology.jobs()[0].elastic);
    assert!(!elastic(GOOD).unwrap());
    let topology = Topology::from_yaml(&GOOD.replace("gradient: ", "elastic: true, gradient: ")).unwrap();
    assert!(topology.jobs()[0].elastic);
    for document in [topology.to_yaml(), topology.to_json()] {
        assert!(elastic(&document).unwrap(), "{document}");
    }
    let wrong = elastic(&GOOD.replace("gradient: ", "elastic: maybe, gradient: ")).unwrap_err().to_string();
    assert!(wrong.contains("elastic: neither true nor false"), "{wrong}");
}

#[test]
fn a_topology_without_jobs_has_one_of_all_hosts() {
    let text = GOOD.split("jobs:").next().unwrap();
    let topology = Topology::from_yaml(text).unwrap();
    assert_eq!((topology.jobs()[0].workers.len(), topology.jobs()[0].servers.len()), (2, 1));
}

#[test]
fn every_error_names_place_and_fix() {
    // A change of the valid document, and the parts that the message must then have.
    let cases: &[(&str, &str, &[&str])] = &[
        ("[w1, v1]", "[w1, V1]", &["line 8", "link w1-V1", "unknown node \"V1\"", "did you mean \"v1\""]),
        ("name: w2, kind", "name: w1, kind", &["line 6", "node w1", "taken"]),
        ("  - {ends: [w2, v1], rate: 9e6 bps}\n", "", &["job vgg19", "w2", "no route", "s1"]),
        ("9e6 bps", "0", &["line 9", "link w2-v1", "rate is 0", "positive"]),
        ("9e6 bps", "-5 Mbps", &["line 9", "link w2-v1", "positive"]),
        ("9e6 bps", ".nan", &["line 9", "link w2-v1", "NaN"]),
        ("9e6 bps", "1e19 bps", &["line 9", "link w2-v1", "1e18 bit/s"]),
        ("9e6 bps", ".inf", &["line 9", "link w2-v1"]),
        ("9e6 bps", "fast", &["line 9", "fast", "20 Mbps"]),
        ("[w2, v1]", "[v1, v1]", &["line 9", "link v1-v1", "same node"]),
        ("[w2, v1]", "[v1, w1]", &["line 9", "link v1-w1", "linked already"]),
        ("kind: worker", "kind: wroker", &["line 5", "wroker", "worker"]),
        ("workers: [w1, w2]", "workers: []", &["line 15", "job vgg19", "no worker"]),
        ("workers: [w1, w2]", "workers: [w1, w1]", &["job vgg19", "twice"]),
        ("workers: [w1, w2]", "workers: [w1, s1]", &["job vgg19", "\"s1\" is a server"]),
        ("servers: [s1]", "servers: [s7]", &["job vgg19", "unknown node \"s7\""]),
        ("548 MB", "-3 MB", &["job vgg19", "gradient"]),
        ("548 MB", "548 Mbps", &["548 Mbps", "548 MB"]),
        ("delay: 10 us", "delay: -1 s", &["line 8", "delay"]),
        (
            "aggregation_capacity: 6 Gbps",
            "aggregation_capacity: -6 Gbps",
            &["line 3", "node v1", "aggregation_capacity"],
        ),
        ("9e6 bps}", "9e6 bps, mtu: 575}", &["line 9", "link w2-v1", "mtu is 575", "576 to 9216"]),
        ("9e6 bps}", "9e6 bps, mtu: 9217}", &["line 9", "link w2-v1", "mtu is 9217", "576 to 9216"]),
        ("9e6 bps}", "9e6 bps, mtu: -1}", &["line 9", "link w2-v1", "mtu is -1"]),
        ("9e6 bps}", "9e6 bps, mtu: jumbo}", &["line 9", "mtu: not a whole number of bytes", "9000"]),
        ("name: small", "name: small\nmtu: 90000", &["line 2", "mtu is 90000", "9000"]),
        ("ingress_capacity: 4 Gbps", "ingress_capacity: 0", &["line 4", "node s1", "ingress_capacity"]),
        ("kind: worker}", "kind: worker, ingress_capacity: 4 bps}", &["node w1", "no ingress"]),
        ("{link: [s1, v1]", "{link: [s1, w1]", &["background", "no such link"]),
        ("{node: v1, rate", "{rate", &["background", "link: [a, b]"]),
        ("{node: v1, rate: 500 Mbps}", "{node: w1, rate: 5 bps}", &["background on node w1", "its link"]),
        ("name: small", "nmae: small", &["nmae"]),
        ("name: small", "name: \"\"", &["name", "without blanks"]),
        ("links:", "links: [", &["line"]),
    ];
    for &(find, replace, expected) in cases {
        assert!(GOOD.contains(find), "{find}");
        let error = Topology::from_yaml(&GOOD.replacen(find, replace, 1)).expect_err(replace).to_string();
        assert!(!error.contains('\n'), "one line: {error}");
        for part in expected {
            assert!(error.contains(part), "{find} -> {replace}: \"{error}\" lacks \"{part}\"");
        }
    }
}

#[test]
fn a_link_without_an_mtu_has_the_documents_or_1500() {
    let mtus = |text: &str| -> Vec<u16> {
        Topology::from_yaml(text).unwrap().links().iter().map(|link| link.mtu).collect()
    };
    assert_eq!(mtus(GOOD), [1500; 3]);
    let jumbo = GOOD.replacen("name: small", "name: small\nmtu: 9000", 1);
    assert_eq!(mtus(&jumbo), [9000; 3]);
    assert_eq!(mtus(&jumbo.replacen("9e6 bps", "9e6 bps, mtu: 1500", 1)), [9000, 1500, 9000]);
    assert_eq!(mtus(&GOOD.replacen("9e6 bps", "9e6 bps, mtu: 576", 1)), [1500, 576, 1500]);
    assert!(Topology::from_yaml(&jumbo).unwrap().to_yaml().contains("\nmtu: 9000\n"), "written once");
    assert!(!Topology::from_yaml(GOOD).unwrap().to_yaml().contains("mtu"), "not in the document");
}

#[test]
fn jobs_may_use_links_between_switches_and_those_of_their_hosts() {
    let text = "\
name: small
nodes: [{name: v1, kind: switch}, {name: v2, kind: switch}, {name: s1, kind: server},
  {name: w1, kind: worker}, {name: w2, kind: worker}]
links: [{ends: [w1, v1], rate: 1e9 bps}, {ends: [w2, v1], rate: 1e9 bps}, {ends: [v1, v2], rate: 1e9 bps},
  {ends: [v1, s1], rate: 1e9 bps}]
jobs: [{name: a, workers: [w1], servers: [s1]}]
";
    let topology = Topology::from_yaml(text).unwrap();
    let used: Vec<usize> = topology.job_links().map(|link| link.index()).collect();
    assert_eq!(used, [0, 2, 3], "w2 is in no job");
}

#[test]
fn yaml_and_json_read_back() {
    for topology in [
        Topology::from_yaml(GOOD).unwrap(),
        Topology::from_yaml(GOOD).unwrap().with_mtu(9000),
        Topology::from_yaml(&GOOD.replacen("9e6 bps", "9e6 bps, mtu: 4200", 1)).unwrap(),
        Topology::from_yaml(include_str!("../fig1.yaml")).unwrap(),
        fat_tree(4, &equipment(2, 10)).unwrap(),
        leaf_spine(3, 2, 4, &equipment(2, 10)).unwrap(),
        random_regular(9, 4, 2, &equipment(2, 10)).unwrap(),
    ] {
        for text in [topology.to_yaml(), topology.to_json()] {
            let read = Topology::from_yaml(&text).unwrap();
            assert_eq!(read.name(), topology.name());
            assert_eq!(read.nodes(), topology.nodes());
            assert_eq!(read.links(), topology.links());
            assert_eq!(read.jobs(), topology.jobs());
        }
    }
}

#[test]
fn generators_draw_what_was_asked() {
    let topology = fat_tree(6, &equipment(4, 50)).unwrap();
    let count = |kind| topology.nodes().iter().filter(|node| node.kind == kind).count();
    assert_eq!((count(NodeKind::Switch), count(NodeKind::Server), count(NodeKind::Worker)), (45, 4, 50));
    assert_eq!(topology.links().len(), 54 + 54 + 54);
    assert!(fat_tree(5, &equipment(1, 1)).unwrap_err().to_string().contains("even"));
    assert!(fat_tree(4, &equipment(4, 13)).unwrap_err().to_string().contains("do not fit"));
    assert!(random_regular(5, 3, 4, &equipment(1, 1)).is_err());
    let random = random_regular(10, 3, 2, &equipment(2, 8)).unwrap();
    let switches = random.node_ids().filter(|&id| random.node(id).kind == NodeKind::Switch);
    for switch in switches {
        let neighbors = random.neighbors(switch).map(|(next, _)| random.node(next).kind);
        assert_eq!(neighbors.filter(|&kind| kind == NodeKind::Switch).count(), 3);
    }
}

#[test]
fn random_wiring_is_regular_connected_and_repeatable() {
    // 1,000 switches; a degree of 2 leaves only single cycles, the hardest to mix.
    for (switches, degree) in [(1000, 2), (1000, 7), (12, 11)] {
        let topology = random_regular(switches, degree, 1, &equipment(1, 2)).unwrap();
        assert_eq!(topology.links().len(), switches * degree / 2 + 3);
        let seen = |id| topology.neighbors(id).filter(|&(n, _)| topology.node(n).kind == NodeKind::Switch);
        let mut reached = vec![topology.node_ids().next().unwrap()];
        let mut known = std::collections::HashSet::from([reached[0]]);
        while let Some(id) = reached.pop() {
            assert_eq!(seen(id).count(), degree);
            reached.extend(seen(id).map(|(next, _)| next).filter(|&next| known.insert(next)));
        }
        assert_eq!(known.len(), switches);
        let again = random_regular(switches, degree, 1, &equipment(1, 2)).unwrap();
        assert_eq!(again.to_yaml(), topology.to_yaml());
    }
}

#[test]
fn rates_are_drawn_from_ranges_without_moving_anything() {
    let plain = fat_tree(6, &equipment(4, 50)).unwrap();
    let range = |text: &str| Some(text.parse().unwrap());
    let tight = Ranges { fabric: range("2Mbps..6Mbps"), aggregation: range("4Mbps..14Mbps"), access: None };
    let drawn = plain.with_drawn_rates(&tight, 1);
    let (mut fabric, mut access) = (Vec::new(), Vec::new());
    for (link, before) in drawn.links().iter().zip(plain.links()) {
        assert_eq!(link.ends, before.ends);
        let inner = link.ends.iter().all(|&end| drawn.node(end).kind == NodeKind::Switch);
        if inner { &mut fabric } else { &mut access }.push(link.rate_bps());
    }
    assert!(access.iter().all(|&bps| bps == 20e6));
    let spread = |rates: &[f64]| {
        let (low, high) = rates.iter().fold((f64::MAX, 0.0), |(low, high), &r| (r.min(low), r.max(high)));
        (low, rates.iter().sum::<f64>() / rates.len() as f64, high)
    };
    let (low, mean, high) = spread(&fabric);
    assert!((2e6..2.3e6).contains(&low) && (3.6e6..4.4e6).contains(&mean) && (5.7e6..=6e6).contains(&high));
    let aggregation: Vec<f64> =
        drawn.nodes().iter().map(|node| node.aggregation_bps).filter(|&bps| bps > 0.0).collect();
    let (low, mean, high) = spread(&aggregation);
    assert!((4e6..5e6).contains(&low) && (8e6..10e6).contains(&mean) && (13e6..=14e6).contains(&high));
    assert_eq!(aggregation.len(), 45);
    // Another range more leaves the first draws alone; another seed does not.
    let all = plain.with_drawn_rates(&Ranges { access: range("10Mbps..30Mbps"), ..tight }, 1);
    assert_eq!(all.nodes(), drawn.nodes());
    assert_ne!(all.links(), drawn.links());
    assert_ne!(plain.with_drawn_rates(&tight, 2).nodes(), drawn.nodes());
    assert_eq!(plain.with_drawn_rates(&Ranges::default(), 1).to_yaml(), plain.to_yaml());
}

#[test]
fn scaling_multiplies_rates_only() {
    let topology = Topology::from_yaml(GOOD).unwrap();
    let scaled = topology.scaled(0.01);
    assert_eq!(scaled.links()[0].rate_bps(), 6e7);
    assert_eq!(scaled.links()[0].delay_seconds, 1e-5);
    assert_eq!(scaled.nodes()[0].aggregation_bps, 6e7);
    assert_eq!(scaled.nodes()[0].background_bps, 5e6);
}

#[test]
fn hostile_documents_are_refused() {
    for text in
        ["", "[", "name: x", "a: &a [*a, *a]", "\u{0}", "{name: x, nodes: [], links: []}", "!!binary x"]
    {
        assert!(Topology::from_yaml(text).is_err(), "{text:?}");
    }
}

#[test]
fn names_have_up_to_63_bytes() {
    let read = |[network, node, job]: [&str; 3]| {
        Topology::from_yaml(&format!(
            "name: {network}
nodes: [{{name: v1, kind: switch}}, {{name: s1, kind: server}}, {{name: {node}, kind: worker}}]
links: [{{ends: [s1, v1], rate: 1 Gbps}}, {{ends: [{node}, v1], rate: 1 Gbps}}]
jobs: [{{name: {job}}}]
"
        ))
    };
    // Two bytes each.
    let (longest, longer) = ("ä".repeat(31) + "x", "ä".repeat(32));
    assert!(read([&longest; 3].map(|name| &name[..])).is_ok());
    for (names, place) in [
        ([&longer[..], "w", "j"], "line 1: document"),
        (["n", &longer, "j"], "line 2: node"),
        (["n", "w", &longer], "line 4: job"),
    ] {
        let error = read(names).unwrap_err().to_string();
        let expected = "the name \"ääääääää...\" has 64 bytes; give it a name of up to 63 bytes";
        assert!(error.contains(place) && error.contains(expected), "{error}");
    }
}
