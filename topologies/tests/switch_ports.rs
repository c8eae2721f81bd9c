//! Ports of switches in topologies: which are refused and how, which `dev_port` each is, and that documents
//! keep them.

#![allow(clippy::unwrap_used)]

use inart_topologies::switched::{Board, SwitchPort, Topology};

const GOOD: &str = "\
name: pair
nodes:
  - {name: v1, kind: switch, aggregation_capacity: 100 Gbps, board: wedge100bf-32x}
  - {name: v2, kind: switch}
  - {name: s1, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
links:
  - {ends: [w1, v1], rate: 100 Gbps, ports: {v1: 9/0}}
  - {ends: [v2, v1], rate: 100 Gbps, ports: {v1: 1/2, v2: 300}}
  - {ends: [w2, v2], rate: 100 Gbps, ports: {v2: 66}}
  - {ends: [v1, s1], rate: 100 Gbps, ports: {v1: 48}}
";

fn dev_ports(topology: &Topology, switch: &str) -> Vec<Option<u32>> {
    let switch = topology.node_named(switch).unwrap();
    topology.link_ids().map(|link| topology.device_port(link, switch)).collect()
}

#[test]
fn front_ports_and_dev_ports_are_read() {
    let topology = Topology::from_yaml(GOOD).unwrap();
    assert_eq!(dev_ports(&topology, "v1"), [Some(56), Some(134), None, Some(48)]);
    assert_eq!(dev_ports(&topology, "v2"), [None, Some(300), Some(66), None]);
    assert_eq!(dev_ports(&topology, "w1"), [None; 4]);
    assert_eq!(topology.links()[0].ports, [None, Some(SwitchPort::Front { front: 9, lane: 0 })]);
    assert_eq!(topology.nodes()[0].board, Some(Board::Wedge100Bf32X));
    let plain = Topology::from_yaml("{name: n, nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}], links: [{ends: [w, v], rate: 1 bps}, {ends: [s, v], rate: 1 bps}]}").unwrap();
    assert_eq!(dev_ports(&plain, "v"), [None, None]);
    assert!(!plain.to_yaml().contains("ports") && !plain.to_json().contains("ports"), "not in the document");
}

#[test]
fn documents_keep_boards_and_ports() {
    let topology = Topology::from_yaml(GOOD).unwrap();
    assert!(topology.to_yaml().contains("ports: {v2: 300, v1: 1/2}"), "{}", topology.to_yaml());
    for text in [topology.to_yaml(), topology.to_json()] {
        let read = Topology::from_yaml(&text).unwrap();
        assert_eq!((read.nodes(), read.links()), (topology.nodes(), topology.links()), "{text}");
    }
    // A network without some of its links keeps the ports of the others.
    let gone = topology.without(&[topology.link_ids().next().unwrap()], &[]);
    assert_eq!(dev_ports(&gone, "v1"), [Some(134), None, Some(48)]);
}

#[test]
fn bad_ports_are_named_with_the_fix() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("{v1: 48}", "{v1: 56}", &["line 12", "link v1-s1", "link w1-v1", "dev_port 56", "of its own"]),
        ("{v1: 48}", "{v1: 9/0}", &["line 12", "link w1-v1 is at the same port of v1"]),
        ("{v1: 48}", "{v1: 33/0}", &["line 12", "link v1-s1", "no front port 33", "1 to 32"]),
        ("{v1: 48}", "{v1: 0/0}", &["no front port 0", "1 to 32"]),
        ("{v1: 48}", "{v1: 9/4}", &["port 9/4 of v1", "no lane 4", "0 to 3"]),
        ("{v1: 48}", "{v1: 64}", &["port 64 of v1", "wedge100bf-32x has no such dev_port"]),
        ("{v2: 66}", "{v2: 68}", &["line 11", "port 68 of v2", "loopback port", "below 512"]),
        ("{v2: 66}", "{v2: 452}", &["port 452 of v2", "loopback port"]),
        ("{v2: 66}", "{v2: 512}", &["line 11", "port 512 of v2", "below 512"]),
        ("{v2: 66}", "{v2: 9/0}", &["port 9/0 of v2", "names no board", "wedge100bf-32x", "dev_port"]),
        ("{v2: 66}", "{v2: 66, v1: 4}", &["\"v1\", which is not an end", "w2 and v2"]),
        ("{v2: 66}", "{v2: 66, w2: 4}", &["gives a port to w2, a worker", "switches only"]),
        (", ports: {v2: 66}", "", &["line 11", "link w2-v2", "no port of v2, but link v2-v1", "or to none"]),
        ("{v2: 66}", "{v2: 9-0}", &["\"9-0\"", "9/0 (front port and lane) or 132"]),
        ("{v2: 66}", "{v2: 1.5}", &["9/0 (front port and lane) or 132"]),
        ("{v2: 66}", "{v2: -1}", &["\"-1\"", "9/0 (front port and lane) or 132"]),
        ("{v2: 66}", "[66]", &["line 11"]),
        ("name: v2, kind: switch", "name: v2, kind: switch, board: mine", &["node v2", "\"mine\"", "32qs"]),
        ("kind: server", "kind: server, board: wedge100bf-32x", &["node s1", "a server has no board"]),
        ("board: wedge100bf-32x", "board: wedge100bf-65x", &["port 9/0 of v1", "not known here", "dev_port"]),
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
