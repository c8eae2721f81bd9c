//! Port numbers and MAC addresses, a function of the topology alone, so that wiring (by the emulator or by
//! hand) and tables agree.
//!
//! A switch's ports are numbered from 1 in the order in which the topology lists its links. The topology,
//! or else a rule of the target, gives their numbers on the switch. A host's address is `02:49:4e:41`
//! (locally administered, "INA") and its index among the topology's nodes.
//!
//! In a network of peers a switch's ports are numbered from 1: its peers first, in the order of the nodes,
//! then the links to other switches, in the order of the links. A peer's address is `02:49:4e:50` ("INP")
//! and its index among the peers. So a host of a topology that is also a peer has two addresses: its
//! processes have the document of their own job only.

use std::collections::{BTreeMap, BTreeSet};

use inart_tables::PortNo;
use inart_targets::{PortNumbers, Target};
use inart_topologies::NetworkError;
use inart_topologies::peers::Mesh;
use inart_topologies::switched::{NodeKind, Topology, board};
use inart_wire::MacAddr;

/// Topology that cannot be numbered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortsError {
    /// Switch with more links than ports.
    #[error("switch {switch} has {links} links, a switch can have {most}: spread them over more switches")]
    TooManyPorts {
        /// Name of the switch.
        switch: String,
        /// Number of its links.
        links: usize,
        /// Ports of a switch of that kind.
        most: u16,
    },
    /// More nodes than two bytes can number.
    #[error("the topology has {nodes} nodes, host addresses are for at most 65536: split it")]
    TooManyNodes {
        /// Number of nodes.
        nodes: usize,
    },
    /// Network of peers that does not consist of switches and hosts.
    #[error(transparent)]
    Document(#[from] NetworkError),
    /// Switch of the topology without a driver.
    #[error("no address for switch {switch} of topology {topology}: give one for each switch")]
    MissingSwitch {
        /// Name of the switch.
        switch: String,
        /// Name of the topology.
        topology: String,
    },
    /// Driver for a node that is not a switch of the topology.
    #[error("{switch} is not a switch of topology {topology}; it has {}", known.join(", "))]
    UnknownSwitch {
        /// Name.
        switch: String,
        /// Name of the topology.
        topology: String,
        /// Names of its switches.
        known: Vec<String>,
    },
}

#[derive(Debug, Clone)]
struct Node {
    /// Address of a host; `None` for a switch.
    mac: Option<MacAddr>,
    /// Address as a peer, next to the other.
    as_peer: Option<MacAddr>,
    /// Other ends of the links, in the topology's order: port p of a switch leads to `peers[p - 1]`.
    peers: Vec<String>,
    /// Numbers of the ports on the switch, as the topology states them.
    numbers: PortNumbers,
}

/// First bytes of addresses of hosts, and of peers.
const OF_HOSTS: [u8; 4] = [0x02, 0x49, 0x4e, 0x41];
const OF_PEERS: [u8; 4] = [0x02, 0x49, 0x4e, 0x50];

/// Returns the address with these first bytes of the host at an index; `None` if two bytes do not hold the
/// index.
fn address([a, b, c, d]: [u8; 4], index: usize) -> Option<MacAddr> {
    let [high, low] = u16::try_from(index).ok()?.to_be_bytes();
    Some(MacAddr([a, b, c, d, high, low]))
}

/// Returns the peers of a network and their addresses, in order.
pub(crate) fn peers_of(mesh: &Mesh) -> Result<Vec<(&str, MacAddr)>, PortsError> {
    let too_many = || PortsError::TooManyNodes { nodes: mesh.peers().len() };
    let mut all = Vec::with_capacity(mesh.peers().len());
    for (index, peer) in mesh.peers().iter().enumerate() {
        all.push((peer.name.as_str(), address(OF_PEERS, index).ok_or_else(too_many)?));
    }
    Ok(all)
}

/// Returns whether an address is a peer's.
pub(crate) fn is_of_peer(address: MacAddr) -> bool {
    address.0.starts_with(&OF_PEERS)
}

/// Nodes at the ports of switches, and addresses of hosts.
#[derive(Debug, Clone)]
pub struct PortMap {
    nodes: BTreeMap<String, Node>,
}

impl PortMap {
    /// Numbers the ports of all switches and gives every host an address.
    ///
    /// # Errors
    /// A topology that is too large to number.
    pub fn new(topology: &Topology) -> Result<Self, PortsError> {
        let mut peers = vec![Vec::new(); topology.nodes().len()];
        let mut numbers = vec![Vec::new(); topology.nodes().len()];
        for (id, link) in topology.link_ids().zip(topology.links()) {
            let [a, b] = link.ends;
            for (end, other) in [(a, b), (b, a)] {
                let port = PortNo::nth(peers[end.index()].len());
                peers[end.index()].push(topology.node(other).name.clone());
                numbers[end.index()].extend(port.zip(topology.device_port(id, end)));
            }
        }
        let too_many = || PortsError::TooManyNodes { nodes: topology.nodes().len() };
        let mut nodes = BTreeMap::new();
        let of_nodes = topology.nodes().iter().zip(peers).zip(numbers);
        for (index, ((node, peers), numbers)) in of_nodes.enumerate() {
            let (name, links) = (node.name.clone(), peers.len());
            let mac = match node.kind {
                NodeKind::Switch if links > usize::from(u16::MAX) => {
                    return Err(PortsError::TooManyPorts { switch: name, links, most: u16::MAX });
                }
                NodeKind::Switch => None,
                _ => Some(address(OF_HOSTS, index).ok_or_else(too_many)?),
            };
            let numbers = numbers.into_iter().collect();
            nodes.insert(name, Node { mac, as_peer: None, peers, numbers });
        }
        Ok(PortMap { nodes })
    }

    /// Numbers the ports of all switches of a network of peers and gives every peer an address.
    ///
    /// # Errors
    /// A network that is too large to number.
    pub fn of_mesh(mesh: &Mesh) -> Result<Self, PortsError> {
        let mut ports = Self::new(&mesh.as_topology()?)?;
        for (name, address) in peers_of(mesh)? {
            if let Some(node) = ports.nodes.get_mut(name) {
                node.mac = Some(address);
            }
        }
        Ok(ports)
    }

    /// Adds the address that a host has as a peer.
    pub(crate) fn add_peer(&mut self, host: &str, address: MacAddr) {
        if let Some(node) = self.nodes.get_mut(host) {
            node.as_peer = Some(address);
        }
    }

    /// Refuses a topology in which a switch has more links than ports.
    ///
    /// # Errors
    /// The first such switch.
    pub fn check_ports(&self, most: u16) -> Result<(), PortsError> {
        for switch in self.switches() {
            let links = self.ports(switch).count();
            if links > usize::from(most) {
                return Err(PortsError::TooManyPorts { switch: switch.to_owned(), links, most });
            }
        }
        Ok(())
    }

    /// Refuses a set of switch names that is not exactly the topology's.
    ///
    /// # Errors
    /// The first name that is missing or unknown.
    pub fn check_names<'a>(
        &self,
        topology: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), PortsError> {
        let names: BTreeSet<_> = names.into_iter().collect();
        if let Some(unknown) = names.iter().find(|name| !self.is_switch(name)) {
            return Err(PortsError::UnknownSwitch {
                switch: (*unknown).to_owned(),
                topology: topology.to_owned(),
                known: self.switches().map(str::to_owned).collect(),
            });
        }
        match self.switches().find(|switch| !names.contains(switch)) {
            Some(missing) => {
                Err(PortsError::MissingSwitch { switch: missing.to_owned(), topology: topology.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Returns the names of the switches, sorted.
    pub fn switches(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter(|(_, node)| node.mac.is_none()).map(|(name, _)| name.as_str())
    }

    /// Returns names and addresses of the hosts, sorted by name. A host that is also a peer has two.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, MacAddr)> {
        let both = |node: &Node| node.mac.into_iter().chain(node.as_peer);
        self.nodes.iter().flat_map(move |(name, node)| both(node).map(move |mac| (name.as_str(), mac)))
    }

    /// Returns whether a name is that of a switch.
    pub fn is_switch(&self, name: &str) -> bool {
        self.nodes.get(name).is_some_and(|node| node.mac.is_none())
    }

    /// Returns the address of a host.
    pub fn mac(&self, host: &str) -> Option<MacAddr> {
        self.nodes.get(host)?.mac
    }

    /// Returns the port of `switch` that leads to its neighbor `peer`.
    pub fn port(&self, switch: &str, peer: &str) -> Option<PortNo> {
        self.ports(switch).find(|(_, name)| *name == peer).map(|(port, _)| port)
    }

    /// Returns the neighbor at a port of a switch.
    pub fn peer(&self, switch: &str, port: PortNo) -> Option<&str> {
        self.ports(switch).find(|(number, _)| *number == port).map(|(_, name)| name)
    }

    /// Returns the ports of a switch and the neighbors there, in order; none for a host.
    pub fn ports(&self, switch: &str) -> impl Iterator<Item = (PortNo, &str)> {
        let peers =
            self.nodes.get(switch).filter(|node| node.mac.is_none()).map(|node| node.peers.as_slice());
        let numbered = peers.unwrap_or_default().iter().enumerate();
        numbered.filter_map(|(index, peer)| Some((PortNo::nth(index)?, peer.as_str())))
    }

    /// Returns the numbers of the ports on the switch (`dev_port`s), as the topology states them; empty if
    /// it does not.
    pub fn numbers(&self, switch: &str) -> PortNumbers {
        self.nodes.get(switch).map(|node| node.numbers.clone()).unwrap_or_default()
    }

    /// Returns the ports of a switch of a target, in order, with their numbers on the switch, for wiring.
    /// Ports that such a switch does not have are left out.
    pub fn numbered(&self, switch: &str, target: &dyn Target) -> Vec<(PortNo, u64)> {
        let stated = self.numbers(switch);
        let number = |port| Some((port, target.port_number_at(port, &stated)?));
        self.ports(switch).filter_map(|(port, _)| number(port)).collect()
    }

    /// Returns the pipe of a port of a switch, where the topology states the port.
    pub fn pipe(&self, switch: &str, port: PortNo) -> Option<u32> {
        self.nodes.get(switch)?.numbers.number(port).map(board::pipe)
    }

    /// Returns the switch of a host's interface: the other end of its first link.
    pub fn attachment(&self, host: &str) -> Option<&str> {
        let node = self.nodes.get(host).filter(|node| node.mac.is_some())?;
        node.peers.first().map(String::as_str)
    }
}
