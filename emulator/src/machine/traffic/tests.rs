//! Background traffic between two hosts on real namespaces; skipped without root.

use std::time::Duration;

use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{Flow, Protocol};
use inart_topologies::switched::Topology;

use super::{End, Traffic};
use crate::machine::wiring::{Blueprint, NodeIndex, NodeKind, Wiring, WiringError};
use crate::machine::wiring_tests::two_hosts;

fn end<'a>(wiring: &'a Wiring, blueprint: &Blueprint, node: usize) -> End<'a> {
    let NodeKind::Host { mac, ip } = blueprint.nodes[node].1 else { unreachable!("both are hosts") };
    End { namespace: wiring.namespace(NodeIndex(node)), interface: "eth0", mac, ip }
}

/// Bytes that have come to the second host.
fn received(wiring: &Wiring) -> u64 {
    let file = || std::fs::read_to_string("/proc/thread-self/net/dev");
    let text = wiring.namespace(NodeIndex(1)).run(file).expect("read");
    let line = text.lines().find_map(|line| line.trim().strip_prefix("eth0:")).expect("its interface");
    line.split_whitespace().next().and_then(|bytes| bytes.parse().ok()).expect("a count")
}

/// A flow at 4 Mbit/s from a second on, for nine.
fn flow(protocol: Protocol) -> Flow {
    let topology = Topology::from_yaml(
        "{name: pair, nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}],
          links: [{ends: [w, v], rate: 3 Gbps}, {ends: [s, v], rate: 3 Gbps}]}",
    );
    let topology = topology.expect("a topology");
    let [from, to] = ["w", "s"].map(|name| topology.node_named(name).expect("there"));
    let [begins, ends] = [1_000_000_000, 10_000_000_000].map(Span);
    Flow { from, to, rate_bps: 4e6, frame_bytes: 1000, begins, ends: Some(ends), protocol }
}

/// Waits until the second host has received so much.
fn wait_for(wiring: &Wiring, bytes: u64) {
    let enough = || received(wiring) >= bytes;
    let came = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        enough()
    });
    assert!(came, "{} of {bytes} bytes after 20 s", received(wiring));
}

#[test]
fn traffic_of_every_protocol_begins_and_ends_when_it_is_due() {
    let blueprint = two_hosts();
    let wiring = match Wiring::build(&blueprint, false) {
        Err(WiringError::NotAllowed(error)) => return eprintln!("skipped: needs root ({error})"),
        wiring => wiring.expect("the network"),
    };
    let ends = |_: &Flow| Ok([end(&wiring, &blueprint, 0), end(&wiring, &blueprint, 1)]);
    for protocol in [Protocol::Frames, Protocol::Udp, Protocol::Tcp] {
        // At 8 Mbit/s, which the link just carries.
        let mut traffic = Traffic::new(&[flow(protocol)], 2.0);
        let mut tend = |seconds| {
            let changed = traffic.tend(Duration::from_secs(seconds), ends).expect("sockets");
            changed.into_iter().map(|(flow, begins)| (flow.rate_bps, begins)).collect::<Vec<_>>()
        };
        let before = received(&wiring);
        assert_eq!(tend(0), []);
        assert_eq!(received(&wiring), before, "{protocol:?} is yet to come");
        assert_eq!(tend(1), [(4e6, true)]);
        wait_for(&wiring, before + 500_000);
        assert_eq!(tend(9), [], "it goes on");
        assert_eq!(tend(10), [(4e6, false)]);
        // What is left in the link's queue of a few frames arrives.
        std::thread::sleep(Duration::from_millis(200));
        let after = received(&wiring);
        std::thread::sleep(Duration::from_millis(200));
        assert!(received(&wiring) - after < 2000, "{protocol:?} has ended");
        assert_eq!(tend(11), [], "{protocol:?} is over");
        assert!(traffic.never_run().is_none());
        traffic.reset();
        assert_eq!(traffic.never_run().map(|flow| flow.protocol), Some(protocol), "for the next run");
    }
}

#[test]
fn what_cannot_be_sent_is_named() {
    let mut traffic = Traffic::new(&[flow(Protocol::Udp)], 1.0);
    let refused = traffic.tend(Duration::from_secs(2), |_| Err(std::io::Error::other("no address")));
    let (flow, cause) = refused.expect_err("no addresses");
    assert_eq!((flow.protocol, cause.to_string()), (Protocol::Udp, "no address".to_owned()));
}
