//! Observations of a network by its switches' counters: background traffic, links that are down, failed
//! switches, failed aggregation. And non-failures: a lost session alone, a quiet network, restarted
//! counters.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_controller::PortMap;
use inart_controller::watching::{Answers, Watching};
use inart_p4::Outcome;
use inart_steering::{LinkSeen, Observation};
use inart_targets::{Counts, PortTraffic, Traffic};
use inart_topologies::switched::{NodeId, Topology};

const STEP: Duration = Duration::from_millis(500);

fn topology() -> Topology {
    let text =
        "{name: line, nodes: [{name: a, kind: switch, aggregation_capacity: 1 Gbps}, {name: b, kind: switch},
        {name: s, kind: server}, {name: w, kind: worker}],
        links: [{ends: [w, a], rate: 1 Gbps}, {ends: [a, b], rate: 1 Gbps}, {ends: [b, s], rate: 1 Gbps}]}";
    Topology::from_yaml(text).unwrap()
}

/// Switches whose counters the test sets.
struct Net {
    topology: Topology,
    ports: PortMap,
    watching: Watching,
    counted: Answers,
    /// Hosts whose processes are connected to the controller.
    connected: BTreeSet<String>,
    now: Duration,
}

impl Net {
    fn new(scale: f64) -> Self {
        let topology = topology();
        let ports = PortMap::new(&topology).unwrap();
        let watching = Watching::new(topology.clone(), ports.clone(), scale);
        let counted = ["a", "b"].map(|switch| (switch.to_owned(), Traffic::default())).into_iter().collect();
        let connected = ["s", "w"].map(str::to_owned).into();
        Net { topology, ports, watching, counted, connected, now: Duration::ZERO }
    }

    fn port(&mut self, switch: &str, peer: &str) -> &mut PortTraffic {
        let port = self.ports.port(switch, peer).unwrap();
        self.counted.get_mut(switch).unwrap().ports.entry(port).or_default()
    }

    /// Sends frames of 1000 bytes, ours and others', from `from` to `to`; `come` is whether they arrive.
    fn send(&mut self, from: &str, to: &str, (ours, others): (i64, i64), come: bool) {
        let add = |counts: &mut Counts, frames: i64| {
            counts.packets += frames;
            counts.bytes += 1000 * frames;
        };
        if self.ports.is_switch(from) {
            let port = self.port(from, to);
            add(&mut port.ours_out, ours);
            add(&mut port.others_out, others);
        }
        if come && self.ports.is_switch(to) {
            let port = self.port(to, from);
            add(&mut port.ours_in, ours);
            add(&mut port.others_in, others);
        }
    }

    /// Ends an interval without answers of the switches in `silent`.
    fn step(&mut self, silent: &[&str]) -> Option<Observation> {
        self.now += STEP;
        for switch in ["a", "b"] {
            for port in self.watching.ports(switch) {
                self.counted.get_mut(switch).unwrap().ports.entry(port).or_default();
            }
        }
        let mut answers = self.counted.clone();
        answers.retain(|switch, _| !silent.contains(&&**switch));
        self.watching.observe(self.now, answers, &self.connected)
    }

    fn node(&self, name: &str) -> NodeId {
        self.topology.node_named(name).unwrap()
    }

    fn link(&self, seen: &Observation, from: &str, to: &str) -> Option<LinkSeen> {
        let (from, to) = (self.node(from), self.node(to));
        let link = self.topology.link_between(from, to).unwrap();
        seen.links[link.index()][usize::from(self.topology.link(link).ends[0] != from)]
    }
}

/// Checks that a direction is up with these rates, up to rounding.
fn assert_near(seen: Option<LinkSeen>, (ours_bps, others_bps): (f64, f64)) {
    let seen = seen.unwrap();
    assert_eq!(seen.is_up, Some(true));
    assert!((seen.ours_bps - ours_bps).abs() < 1.0 && (seen.others_bps - others_bps).abs() < 1.0, "{seen:?}");
}

#[test]
fn traffic_of_a_link_is_separated_in_the_topologys_rates() {
    let mut net = Net::new(0.1);
    assert!(net.step(&[]).is_none(), "nothing to compare with");
    net.send("a", "b", (50, 200), true);
    net.send("w", "a", (30, 0), true);
    let seen = net.step(&[]).unwrap();
    // 50 frames of 1000 bytes in half a second are 0.8 Mbit/s, on a tenth of the rates.
    assert_near(net.link(&seen, "a", "b"), (8e6, 32e6));
    assert_eq!(net.link(&seen, "b", "a"), Some(LinkSeen { is_up: None, ..LinkSeen::up(0.0, 0.0) }));
    assert_near(net.link(&seen, "w", "a"), (4.8e6, 0.0));
    assert!(seen.switches.values().all(|switch| switch.is_up && switch.aggregates));
    let quiet = net.step(&[]).unwrap();
    assert_eq!(net.link(&quiet, "a", "b"), Some(LinkSeen { is_up: None, ..LinkSeen::up(0.0, 0.0) }));
}

#[test]
fn a_link_is_down_when_sent_frames_do_not_arrive() {
    let mut net = Net::new(1.0);
    net.step(&[]);
    net.send("a", "b", (10, 0), true);
    net.step(&[]);
    net.send("a", "b", (10, 0), false);
    let seen = net.step(&[]).unwrap();
    assert_eq!(net.link(&seen, "a", "b").unwrap().is_up, None, "they may be in flight");
    let seen = net.step(&[]).unwrap();
    assert_eq!(net.link(&seen, "a", "b").unwrap().is_up, Some(false));
}

#[test]
fn frames_in_flight_are_not_a_failure() {
    let mut net = Net::new(1.0);
    net.step(&[]);
    net.step(&[]);
    net.send("a", "b", (10, 0), false);
    let seen = net.step(&[]).unwrap();
    assert_eq!(net.link(&seen, "a", "b").unwrap().is_up, None, "they may be in flight");
    let seen = net.step(&[]).unwrap();
    assert_eq!(net.link(&seen, "a", "b").unwrap().is_up, Some(false));
    net.send("a", "b", (1, 0), true);
    let seen = net.step(&[]).unwrap();
    assert_eq!(net.link(&seen, "a", "b").unwrap().is_up, Some(true), "one arrival is enough");
}

#[test]
fn a_lost_session_alone_is_not_a_failure_but_a_silent_switch_without_traffic_is() {
    let mut net = Net::new(1.0);
    for _ in 0..3 {
        net.send("b", "a", (10, 0), true);
        net.step(&[]);
    }
    // The session is lost, and forwarded frames arrive.
    for _ in 0..3 {
        net.send("b", "a", (10, 0), true);
        let seen = net.step(&["b"]).unwrap();
        assert!(!seen.switches.contains_key(&net.node("b")));
    }
    let seen = net.step(&["b"]).unwrap();
    let gone = seen.switches[&net.node("b")];
    assert!(!gone.is_up);
    let back = net.step(&[]).unwrap();
    assert!(!back.switches.contains_key(&net.node("b")), "not yet known");
    let back = net.step(&[]).unwrap();
    assert!(back.switches[&net.node("b")].is_up);
}

#[test]
fn a_host_that_gets_frames_and_sends_none_is_cut_off() {
    let mut net = Net::new(1.0);
    net.step(&[]);
    let mut seen = Vec::new();
    for _ in 0..8 {
        net.send("a", "w", (4, 0), true);
        let observed = net.step(&[]).unwrap();
        seen.push(net.link(&observed, "w", "a").unwrap().is_up);
    }
    assert_eq!(seen, [None, None, None, None, None, Some(false), Some(false), Some(false)], "after 3 s");
}

/// Frames for a host whose process has ended reach it, and it sends none.
#[test]
fn the_link_of_a_host_without_a_process_is_not_down() {
    let mut net = Net::new(1.0);
    net.step(&[]);
    net.connected.remove("w");
    let states = |net: &mut Net, steps: usize| {
        let step = |_| {
            net.send("a", "w", (4, 0), true);
            let observed = net.step(&[]).unwrap();
            net.link(&observed, "w", "a").unwrap().is_up
        };
        (0..steps).map(step).collect::<Vec<_>>()
    };
    assert_eq!(states(&mut net, 20), [None; 20]);
    // A new process has as long as any other before its silence counts.
    net.connected.insert("w".to_owned());
    assert_eq!(states(&mut net, 7), [None, None, None, None, None, Some(false), Some(false)]);
}

#[test]
fn aggregation_has_failed_when_occupied_slots_do_not_match() {
    let mut net = Net::new(1.0);
    let mut outcomes = vec![Counts::default(); Outcome::ALL.len()];
    net.counted.get_mut("a").unwrap().outcomes = outcomes.clone();
    net.step(&[]);
    outcomes[Outcome::Stale.index()].packets += 20;
    outcomes[Outcome::Added.index()].packets += 1;
    net.counted.get_mut("a").unwrap().outcomes = outcomes.clone();
    assert!(net.step(&[]).unwrap().switches[&net.node("a")].aggregates, "it still sums");
    outcomes[Outcome::PartialOverlap.index()].packets += 20;
    net.counted.get_mut("a").unwrap().outcomes = outcomes.clone();
    assert!(!net.step(&[]).unwrap().switches[&net.node("a")].aggregates);
    outcomes[Outcome::DuplicateIgnored.index()].packets += 200;
    net.counted.get_mut("a").unwrap().outcomes = outcomes;
    assert!(net.step(&[]).unwrap().switches[&net.node("a")].aggregates, "others wait for a worker");
}

#[test]
fn restarted_counters_show_nothing() {
    let mut net = Net::new(1.0);
    net.send("a", "b", (10, 0), true);
    net.step(&[]);
    net.counted.insert("b".to_owned(), Traffic { ports: BTreeMap::new(), outcomes: Vec::new() });
    net.send("a", "b", (5, 0), true);
    let seen = net.step(&[]).unwrap();
    assert_eq!(net.link(&seen, "a", "b").unwrap(), LinkSeen { is_up: None, ..LinkSeen::up(80e3, 0.0) });
}
