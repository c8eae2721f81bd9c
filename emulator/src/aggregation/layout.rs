//! From a topology to what has to be built: nodes, interfaces, links and their rates.

use std::net::Ipv4Addr;

use inart_controller::PortMap;
use inart_topologies::faults::quantity::QueueLimit;
use inart_topologies::switched::{NodeKind as Role, Topology};

use crate::machine::wiring::{Blueprint, LinkEnd, NodeIndex, NodeKind};

/// Returns the blueprint of a topology, with the topology's rates. Nodes and links keep their order.
///
/// Background traffic reduces the rate of its links and of a server's ingress. The last hop to a server
/// carries no more than the server's ingress.
pub fn blueprint(topology: &Topology, ports: &PortMap, queue: QueueLimit) -> Blueprint {
    let nodes = topology.nodes().iter().enumerate().map(|(index, node)| {
        let kind = match ports.mac(&node.name) {
            Some(mac) => NodeKind::Host { mac, ip: address(index) },
            None => NodeKind::Switch,
        };
        (node.name.clone(), kind)
    });
    let mut links_of = vec![0; topology.nodes().len()];
    let links = topology.links().iter().map(|link| {
        let interfaces = link.ends.map(|node| {
            let number = links_of[node.index()];
            links_of[node.index()] += 1;
            // As the port map numbers them: a switch's ports from 1, in the order of the links.
            if topology.node(node).kind == Role::Switch { number + 1 } else { number }
        });
        [0, 1].map(|from| {
            let to = topology.node(link.ends[1 - from]);
            let intake = to.ingress_bps.map_or(f64::INFINITY, |ingress| ingress - to.background_bps);
            LinkEnd {
                node: NodeIndex(link.ends[from].index()),
                interface: interfaces[from],
                rate_bps: (link.rates_bps[from] - link.background_bps[from]).min(intake),
                mtu: link.mtu,
            }
        })
    });
    let links = links.collect();
    Blueprint { nodes: nodes.collect(), links, queue }
}

/// The address of node number `index`: 10.0.0.1 and up.
fn address(index: usize) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 1)) + index as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPOLOGY: &str = "{name: t, nodes: [
        {name: w, kind: worker}, {name: a, kind: switch}, {name: b, kind: switch},
        {name: s, kind: server, ingress_capacity: 3 Mbps}],
      links: [{ends: [w, a], rate: 8 Mbps}, {ends: [a, b], rate: 6 Mbps}, {ends: [s, b], rate: 5 Mbps}],
      background: [{link: [b, a], rate: 1 Mbps}, {node: s, rate: 1 Mbps}]}";

    #[test]
    fn ends_are_numbered_like_ports_and_limited_by_what_the_other_end_takes() {
        let topology = Topology::from_yaml(TOPOLOGY).expect("valid");
        let ports = PortMap::new(&topology).expect("small");
        let blueprint = blueprint(&topology, &ports, QueueLimit::default());
        assert_eq!(blueprint.nodes[1].1, NodeKind::Switch);
        let NodeKind::Host { mac, ip } = blueprint.nodes[3].1 else { panic!("s is a host") };
        assert_eq!((Some(mac), ip), (ports.mac("s"), Ipv4Addr::new(10, 0, 0, 4)));
        let ends: Vec<_> = blueprint
            .links
            .iter()
            .flatten()
            .map(|end| (blueprint.interface_name(end), end.rate_bps / 1e6))
            .collect();
        let expected = [("eth0", 8.0), ("p1", 8.0), ("p2", 6.0), ("p1", 5.0), ("eth0", 5.0), ("p2", 2.0)];
        assert_eq!(ends, expected.map(|(name, rate)| (name.to_owned(), rate)));
        for (switch, peer, interface) in
            [("a", "w", "p1"), ("a", "b", "p2"), ("b", "a", "p1"), ("b", "s", "p2")]
        {
            assert_eq!(format!("p{}", ports.port(switch, peer).expect("linked")), interface);
        }
    }
}
