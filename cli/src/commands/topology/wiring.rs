//! Cables of a network: port numbers of the switches and addresses of the hosts, as in the switches' tables.

use std::fmt::Write as _;

use anyhow::Context;
use inart_controller::PortMap;
use inart_topologies::switched::{DEFAULT_MTU, Link, NodeId, NodeKind, Topology};
use serde::Serialize;

/// The whole of it.
#[derive(Serialize)]
struct Wiring<'a> {
    name: &'a str,
    switches: Vec<&'a str>,
    hosts: Vec<Host<'a>>,
    links: Vec<Cable<'a>>,
}

#[derive(Serialize)]
struct Host<'a> {
    name: &'a str,
    kind: &'static str,
    mac: String,
}

#[derive(Serialize)]
struct Cable<'a> {
    ends: [CableEnd<'a>; 2],
    /// Rate of the slower direction, in bit/s.
    rate_bps: f64,
    /// From the first end to the second, and back.
    rates_bps: [f64; 2],
    delay_seconds: f64,
    mtu: u16,
}

#[derive(Serialize)]
struct CableEnd<'a> {
    node: &'a str,
    /// `None` at a host, which has one interface.
    port: Option<u16>,
    /// Port in the topology's document: a front port and lane, or a `dev_port`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stated: Option<String>,
    /// The chip's number of the port, where the topology says the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    dev_port: Option<u32>,
}

impl std::fmt::Display for CableEnd<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.port, &self.stated) {
            (Some(port), Some(stated)) => f.pad(&format!("{} port {port} ({stated})", self.node)),
            (Some(port), None) => f.pad(&format!("{} port {port}", self.node)),
            (None, _) => f.pad(self.node),
        }
    }
}

/// Returns the wiring of a topology, as text or JSON.
pub fn describe(topology: &Topology, json: bool) -> anyhow::Result<String> {
    let ports = PortMap::new(topology).context("no wiring")?;
    ports.check_ports(inart_targets::DEFAULT.ports()).context("no wiring")?;
    let wiring = wiring(topology, &ports);
    if json {
        return Ok(serde_json::to_string(&wiring)? + "\n");
    }
    let mut text = String::new();
    for cable in &wiring.links {
        let [a, b] = &cable.ends;
        let [there, back] = cable.rates_bps.map(|bps| bps / 1e6);
        let rate = if there == back { there.to_string() } else { format!("{there} and {back}") };
        let _ = write!(text, "{a:24} {b:24} {rate} Mbps, {} us", cable.delay_seconds * 1e6);
        let _ = if cable.mtu == DEFAULT_MTU { writeln!(text) } else { writeln!(text, ", MTU {}", cable.mtu) };
    }
    for host in &wiring.hosts {
        let _ = writeln!(text, "{:24} {}", host.name, host.mac);
    }
    Ok(text)
}

fn wiring<'a>(topology: &'a Topology, ports: &'a PortMap) -> Wiring<'a> {
    let name = |end| topology.node(end).name.as_str();
    let end = |id, of, to| CableEnd {
        node: name(of),
        port: ports.port(name(of), name(to)).map(|port| port.get()),
        stated: stated(topology.link(id), of),
        dev_port: topology.device_port(id, of),
    };
    let cables = topology.link_ids().map(|id| {
        let link = topology.link(id);
        let [a, b] = link.ends;
        Cable {
            ends: [end(id, a, b), end(id, b, a)],
            rate_bps: link.rate_bps(),
            rates_bps: link.rates_bps,
            delay_seconds: link.delay_seconds,
            mtu: link.mtu,
        }
    });
    let hosts = topology.nodes().iter().filter_map(|node| {
        let mac = ports.mac(&node.name)?.to_string();
        Some(Host { name: &node.name, kind: role(node.kind), mac })
    });
    let switches = topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
    Wiring {
        name: topology.name(),
        switches: switches.map(|node| node.name.as_str()).collect(),
        hosts: hosts.collect(),
        links: cables.collect(),
    }
}

/// Returns the document's name of the port at an end of a link.
fn stated(link: &Link, end: NodeId) -> Option<String> {
    link.named_ports().find(|(of, _)| *of == end).map(|(_, port)| port.to_string())
}

/// Returns the document's name of a kind of node.
fn role(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch => "switch",
        NodeKind::Server => "server",
        NodeKind::Worker => "worker",
    }
}
