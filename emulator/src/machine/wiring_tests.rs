//! Networks of two hosts on real namespaces; skipped without root.

use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use inart_topologies::faults::LinkFaults;
use inart_wire::MacAddr;

use crate::machine::relay::Relay;
use crate::machine::wiring::{Blueprint, LinkEnd, NodeIndex, NodeKind, Wiring, WiringError};

fn host(number: u8) -> (String, NodeKind) {
    let mac = MacAddr([2, 0x49, 0x4e, 0x41, 0, number]);
    (format!("h{number}"), NodeKind::Host { mac, ip: Ipv4Addr::new(10, 0, 0, number) })
}

pub(crate) fn two_hosts() -> Blueprint {
    let end = |node, rate_bps| LinkEnd { node: NodeIndex(node), interface: 0, rate_bps, mtu: 1500 };
    Blueprint {
        nodes: vec![host(1), host(2)],
        links: vec![[end(0, 10e6), end(1, 20e6)]],
        ..Blueprint::default()
    }
}

/// The built network, or `None` with a message when this process may not build one.
fn built(relayed: bool) -> Option<Wiring> {
    build(&two_hosts(), relayed)
}

fn build(blueprint: &Blueprint, relayed: bool) -> Option<Wiring> {
    match Wiring::build(blueprint, relayed) {
        Err(WiringError::NotAllowed(error)) => {
            eprintln!("skipped: needs root ({error})");
            None
        }
        other => Some(other.expect("the network")),
    }
}

/// Returns whether a datagram of host 1 arrives at host 2 over UDP.
fn delivers(wiring: &Wiring) -> bool {
    let [from, to] = [0, 1].map(|node| wiring.namespace(NodeIndex(node)));
    let socket =
        |ns: &crate::machine::namespace::Namespace, ip| ns.run(|| std::net::UdpSocket::bind((ip, 7000)));
    let receiver = socket(to, Ipv4Addr::new(10, 0, 0, 2)).expect("bound");
    let sender = socket(from, Ipv4Addr::new(10, 0, 0, 1)).expect("bound");
    receiver.set_read_timeout(Some(std::time::Duration::from_secs(2))).expect("set");
    sender.send_to(b"frame", (Ipv4Addr::new(10, 0, 0, 2), 7000)).expect("sent");
    receiver.recv(&mut [0; 16]).is_ok()
}

#[test]
fn linked_hosts_reach_each_other_at_each_end_s_rate() {
    let Some(wiring) = built(false) else { return };
    assert!(delivers(&wiring));
    for (node, rate) in [(0, "rate 10Mbit"), (1, "rate 20Mbit")] {
        let mut tc = wiring.namespace(NodeIndex(node)).command("tc");
        let output = tc.args(["class", "show", "dev", "eth0"]).output().expect("tc runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(rate), "{text}");
    }
}

#[test]
fn a_relay_carries_what_it_does_not_drop() {
    let Some(wiring) = built(true) else { return };
    let namespace = wiring.relay().expect("asked for");
    let start = |rate: &str| {
        let faults = LinkFaults { drop: rate.parse().expect("a share"), ..LinkFaults::default() };
        Relay::start(namespace, &[faults.clone(), faults], 7).expect("started")
    };
    let relay = start("0");
    assert!(delivers(&wiring));
    let counters = relay.stop();
    assert_eq!(counters.dropped, 0);
    assert!(counters.carried >= 3, "ARP both ways and the datagram: {counters:?}");
    let relay = start("0.999999");
    assert!(!delivers(&wiring));
    assert!(relay.stop().dropped >= 1);
}

#[test]
fn every_interface_of_a_link_has_its_mtu() {
    let mut blueprint = two_hosts();
    blueprint.links[0].iter_mut().for_each(|end| end.mtu = 9000);
    for relayed in [false, true] {
        let Some(wiring) = build(&blueprint, relayed) else { return };
        let hosts = [0, 1].map(|node| (wiring.namespace(NodeIndex(node)), "eth0"));
        let middle = wiring.relay().into_iter().flat_map(|relay| [(relay, "a0"), (relay, "b0")]);
        for (namespace, interface) in hosts.into_iter().chain(middle) {
            let mut ip = namespace.command("ip");
            let output = ip.args(["link", "show", "dev", interface]).output().expect("ip runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains(" mtu 9000 "), "{interface}: {text}");
        }
    }
}

#[test]
fn namespaces_live_while_they_are_held() {
    let Some(wiring) = built(false) else { return };
    let path = wiring.namespace(NodeIndex(0)).path();
    let identity = std::fs::read_link(&path).expect("open");
    assert!(identity.to_string_lossy().starts_with("net:["), "{identity:?}");
    let listed = Command::new("ip").args(["netns", "list"]).stdout(Stdio::piped()).output().expect("ip runs");
    assert!(
        !String::from_utf8_lossy(&listed.stdout).contains("inart"),
        "nothing is named, nothing can linger"
    );
    drop(wiring);
    assert_ne!(std::fs::read_link(&path).ok(), Some(identity), "closed with the network");
}
