//! Stated ports of a topology: their numbers on switches, plans that they forbid, and their setup.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeMap;

use inart_controller::link_ports::{elsewhere, link_ports, problems, to_set_up};
use inart_controller::{PortMap, Records};
use inart_planner_aggregation::{Options, plan, schemes};
use inart_targets::tofino::TOFINO;
use inart_targets::v1model::V1Model;
use inart_targets::{Fec, PortSetup, PortStatus};
use inart_topologies::switched::Topology;
use support::{controller, job, now};

fn pair(w1: &str, w2: &str, rate: &str) -> Topology {
    let text = format!(
        "\
name: pair
nodes:
  - {{name: v1, kind: switch, aggregation_capacity: 400 Gbps, board: wedge100bf-32x}}
  - {{name: s1, kind: server}}
  - {{name: w1, kind: worker}}
  - {{name: w2, kind: worker}}
links:
  - {{ends: [w1, v1], rate: 100 Gbps, ports: {{v1: {w1}}}}}
  - {{ends: [w2, v1], rate: {rate}, ports: {{v1: {w2}}}}}
  - {{ends: [s1, v1], rate: 100 Gbps, ports: {{v1: 1/0}}}}
jobs:
  - {{name: digits, workers: [w1, w2], servers: [s1]}}
"
    );
    Topology::from_yaml(&text).unwrap()
}

#[test]
fn a_target_with_stated_ports_uses_their_numbers() {
    let numbered = |topology: &Topology, target| {
        let ports = PortMap::new(topology).unwrap().numbered("v1", target);
        ports.into_iter().map(|(port, number)| (port.get(), number)).collect::<Vec<_>>()
    };
    let stated = pair("9/0", "10/1", "100 Gbps");
    assert_eq!(numbered(&stated, &TOFINO), [(1, 56), (2, 49), (3, 132)]);
    assert_eq!(numbered(&stated, &V1Model), [(1, 1), (2, 2), (3, 3)], "bmv2 has no such ports");
    let text = stated.to_yaml().replace(", ports: {v1: ", ", mtu: 1500} #");
    let plain = Topology::from_yaml(&text).unwrap();
    assert_eq!(numbered(&plain, &TOFINO), [(1, 1), (2, 2), (3, 3)], "the rule without stated ports");
    assert!(PortMap::new(&plain).unwrap().numbers("v1").is_empty());
}

#[test]
fn a_sum_from_two_pipes_is_refused() {
    let pushed = |topology: &Topology| {
        let made = plan(topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
        let mut controller = controller(topology, Records::default());
        let refusal = now(controller.preview(&[job(1, &made)])).err().map(|error| error.to_string());
        assert_eq!(now(controller.install(&[job(1, &made)])).is_err(), refusal.is_some());
        assert!(refusal.is_none() || controller.switches()["v1"].tables.is_empty(), "nothing is written");
        refusal
    };
    // Sums leave by the other pipe, which is allowed.
    assert_eq!(pushed(&pair("9/0", "10/0", "100 Gbps")), None);
    assert_eq!(pushed(&pair("9/0", "24/3", "100 Gbps")), None);
    let found_texts = pushed(&pair("9/0", "25/0", "100 Gbps")).expect("two pipes");
    for part in
        ["job digits", "switch v1", "server s1", "from w1 come in by pipe 0", "from w2 by pipe 1", "`ports`"]
    {
        assert!(found_texts.contains(part), "{found_texts} lacks {part}");
    }
}

#[test]
fn ports_are_set_up_with_the_links_rates_once() {
    let topology = pair("9/0", "10/0", "25 Gbps");
    let ports = PortMap::new(&topology).unwrap();
    let wanted = link_ports(&topology, &ports, "v1", &TOFINO);
    let names: Vec<_> = wanted.iter().map(ToString::to_string).collect();
    let found_texts = [
        "port 1 (9/0, dev_port 56) to w1",
        "port 2 (10/0, dev_port 48) to w2",
        "port 3 (1/0, dev_port 132) to s1",
    ];
    assert_eq!(names, found_texts);
    let setups = to_set_up(&wanted, &BTreeMap::new(), None).unwrap();
    let kinds: Vec<_> = setups.iter().map(|(number, setup)| (*number, setup.gbps, setup.fec)).collect();
    assert_eq!(kinds, [(48, 25, Fec::None), (56, 100, Fec::ReedSolomon), (132, 100, Fec::ReedSolomon)]);
    let status = |setup: &PortSetup| PortStatus {
        setup: *setup,
        up: true,
        front: None,
        frames: [0; 2],
        bytes: [0; 2],
    };
    let mut found: BTreeMap<u64, PortStatus> =
        setups.iter().map(|(number, setup)| (*number, status(setup))).collect();
    assert!(to_set_up(&wanted, &found, None).unwrap().is_empty(), "nothing is left to set up");
    assert!(problems(&wanted, &found).is_empty());
    let other = to_set_up(&wanted, &found, Some(Fec::FireCode)).unwrap();
    assert_eq!(other.len(), 3);

    // One problem per port.
    found.remove(&48);
    found.get_mut(&56).unwrap().up = false;
    found.get_mut(&132).unwrap().setup.enabled = false;
    let found_texts = problems(&wanted, &found);
    for (line, part) in
        found_texts.iter().zip(["is down: look at the cable", "has not been added", "is not enabled"])
    {
        assert!(line.starts_with("port ") && line.contains(part), "{line} lacks {part}");
    }
    assert_eq!(found_texts.len(), 3);
    assert_eq!(to_set_up(&wanted, &found, None).unwrap().into_keys().collect::<Vec<_>>(), [48, 132]);

    let slow = pair("9/0", "10/0", "20 Mbps");
    let wanted = link_ports(&slow, &PortMap::new(&slow).unwrap(), "v1", &TOFINO);
    let error = to_set_up(&wanted, &BTreeMap::new(), None).unwrap_err().to_string();
    assert!(error.contains("link to w2") && error.contains("0.02 Gbps"), "{error}");
}

#[test]
fn a_switch_with_other_front_ports_is_reported() {
    let topology = pair("9/0", "48", "100 Gbps");
    let wanted = link_ports(&topology, &PortMap::new(&topology).unwrap(), "v1", &TOFINO);
    let front = BTreeMap::from([((9, 0), 60), ((1, 0), 132), ((10, 0), 1)]);
    let found_texts = elsewhere(&wanted, &front);
    assert_eq!(found_texts.len(), 1, "{found_texts:?}");
    assert!(found_texts[0].contains("(9/0, dev_port 56) to w1 is dev_port 60 there"), "{found_texts:?}");
    let found_texts = elsewhere(&wanted, &BTreeMap::new());
    assert!(found_texts.len() == 2 && found_texts[1].contains("no front port 1/0"), "{found_texts:?}");
}
