//! Namespaces and links: each peer has a port to a switch, which is a bridge, or the embedded switch where
//! that makes the copies. Links with a delay or losses go through our relay.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_faults::LinkFaults;
use inart_faults::quantity::Share;
use inart_peers::{Mesh, Multicast, Peer};

use super::rates::{OfPorts, UP, down};
use super::switch::PeersSwitch;
use crate::error::Error;
use crate::namespace::Namespace;
use crate::relay::Relay;
use crate::shaping::RateFollower;
use crate::wiring::namespace;

/// Where everybody listens.
const PORT: u16 = 7500;
const MTU: u16 = 1500;
const COORDINATOR: Ipv4Addr = Ipv4Addr::new(10, 254, 255, 254);

/// The built network.
#[derive(Debug)]
pub struct PeersWiring {
    /// Before the namespaces, so that they end before those do.
    copier: Option<PeersSwitch>,
    relay: Option<Relay>,
    mesh: Arc<Mesh>,
    peers: Vec<Namespace>,
    switch: Namespace,
    /// The coordinator reaches all peers by links of their own, which are as fast as the machine.
    coordinator: Namespace,
    _relay_namespace: Option<Namespace>,
}

fn address(network: u8, rank: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, network, (rank / 250) as u8, 1 + (rank % 250) as u8)
}

/// Where everybody listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Where peers find a peer.
pub fn at_port(rank: usize) -> SocketAddr {
    (address(61, rank), PORT).into()
}

/// Where the coordinator finds a peer.
pub fn from_coordinator(rank: usize) -> SocketAddr {
    (address(254, rank), PORT).into()
}

/// Where peers find the coordinator.
pub fn coordinator() -> SocketAddr {
    (COORDINATOR, PORT).into()
}

impl PeersWiring {
    /// Builds the network of a job's peers, the only job of the network. `command`: the `inart` program.
    pub fn build(mesh: &Arc<Mesh>, multicast: Multicast, command: &Path, seed: u64) -> Result<Self, Error> {
        let ports: Vec<&Peer> = mesh.jobs()[0].peers.iter().map(|&peer| mesh.peer(peer)).collect();
        let peers = ports.iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        let (switch, coordinator) = (namespace()?, namespace()?);
        let is_relayed = ports.iter().any(|port| port.delay_seconds > 0.0 || port.loss > 0.0);
        let middle = is_relayed.then(namespace).transpose()?;
        let mut wiring = Self {
            copier: None,
            relay: None,
            mesh: mesh.clone(),
            peers,
            switch,
            coordinator,
            _relay_namespace: None,
        };
        wiring.switch.batch("ip", &wiring.links(middle.as_ref())).map_err(Error::system("make links"))?;
        wiring.set_up_switch(multicast).map_err(Error::system("set up the switch"))?;
        wiring.set_up_coordinator().map_err(Error::system("set up the coordinator"))?;
        for rank in 0..ports.len() {
            wiring.set_up_peer(rank, is_relayed).map_err(Error::system("set up a peer"))?;
        }
        if multicast == Multicast::Switch {
            wiring.copier = Some(PeersSwitch::start(mesh, command, &wiring.switch)?);
        }
        if let Some(middle) = middle {
            let relay = relay(&middle, &ports, seed).map_err(Error::system("start the relay"))?;
            (wiring.relay, wiring._relay_namespace) = (Some(relay), Some(middle));
        }
        Ok(wiring)
    }

    fn links(&self, middle: Option<&Namespace>) -> String {
        let mut script = String::new();
        let mut pair = |a: (&str, &Namespace), b: (&str, &Namespace)| {
            let [(a, of_a), (b, of_b)] = [a, b].map(|(name, namespace)| (name, namespace.path()));
            let _ = writeln!(
                script,
                "link add name {a} mtu {MTU} netns {} type veth peer name {b} mtu {MTU} netns {}",
                of_a.display(),
                of_b.display()
            );
        };
        for (rank, peer) in self.peers.iter().enumerate() {
            match middle {
                None => pair((UP, peer), (&down(rank), &self.switch)),
                Some(middle) => {
                    pair((UP, peer), (&format!("a{rank}"), middle));
                    pair((&format!("b{rank}"), middle), (&down(rank), &self.switch));
                }
            }
            pair(("manage", peer), (&format!("m{rank}"), &self.coordinator));
        }
        script
    }

    fn rates(&self) -> OfPorts {
        OfPorts(self.mesh.clone())
    }

    fn set_up_switch(&self, multicast: Multicast) -> io::Result<()> {
        let (mut ip, master) = match multicast {
            Multicast::Hosts => {
                (String::from("link add fabric type bridge\nlink set fabric up\n"), "master fabric ")
            }
            Multicast::Switch => (String::new(), ""),
        };
        for rank in 0..self.peers.len() {
            let _ = writeln!(ip, "link set {} {master}up", down(rank));
        }
        self.switch.batch("ip", &ip)?;
        self.switch.batch("tc", &self.rates().script_of("add", self.peers.len(), 0.0))
    }

    fn set_up_coordinator(&self) -> io::Result<()> {
        let mut ip = String::from("link set lo up\nlink add manage type bridge\n");
        let _ = writeln!(ip, "address add {COORDINATOR}/16 dev manage\nlink set manage up");
        for rank in 0..self.peers.len() {
            let _ = writeln!(ip, "link set m{rank} master manage up");
        }
        self.coordinator.batch("ip", &ip)
    }

    fn set_up_peer(&self, rank: usize, is_relayed: bool) -> io::Result<()> {
        let (peer, mut ip) = (&self.peers[rank], String::from("link set lo up\n"));
        for (interface, network) in [(UP, 61), ("manage", 254)] {
            let address = address(network, rank);
            let _ = writeln!(ip, "address add {address}/16 dev {interface}\nlink set {interface} up");
        }
        peer.batch("ip", &ip)?;
        peer.batch("tc", &self.rates().script_of("add", rank, 0.0))?;
        if is_relayed {
            peer.disable_checksum_offload(UP)?;
        }
        Ok(())
    }

    /// Changes rates when the traces say so, whose time 0 was at `began`.
    pub fn follow(&self, began: Instant) -> io::Result<RateFollower> {
        let of = |name: String, namespace: &Namespace| Ok((name, namespace.duplicate()?));
        let peers = self.peers.iter().enumerate().map(|(rank, peer)| of(format!("peer {rank}"), peer));
        let all = peers.chain([of("the switch".to_owned(), &self.switch)]).collect::<io::Result<_>>()?;
        RateFollower::start(self.rates(), all, began)
    }

    pub fn peer(&self, rank: usize) -> &Namespace {
        &self.peers[rank]
    }

    pub fn coordinator(&self) -> &Namespace {
        &self.coordinator
    }

    /// Bytes of frames that each peer's port has carried so far, up and down, by rank.
    pub fn carried(&self) -> io::Result<Vec<[u64; 2]>> {
        let table = self.switch.run(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let count = |rank: usize| carried_by(&table, &down(rank));
        let lacking = || io::Error::other("the kernel's table of interfaces lacks a port");
        (0..self.peers.len()).map(|rank| count(rank).ok_or_else(lacking)).collect()
    }

    /// Frames that the switch that makes the copies has dropped so far, by reason, in words.
    pub fn dropped(&mut self) -> Result<Vec<(String, u64)>, Error> {
        let Some(copier) = &mut self.copier else { return Ok(Vec::new()) };
        let drops = copier.drops()?;
        Ok(drops.into_iter().map(|(reason, count)| (reason.to_string(), count)).collect())
    }

    /// Frames that links lost at random so far.
    pub fn lost(&self) -> u64 {
        self.relay.as_ref().map_or(0, |relay| relay.counters().dropped)
    }
}

fn relay(middle: &Namespace, ports: &[&Peer], seed: u64) -> io::Result<Relay> {
    let ups = (0..ports.len()).map(|rank| format!("link set a{rank} up\nlink set b{rank} up\n"));
    middle.batch("ip", &ups.collect::<String>())?;
    let both = || ports.iter().flat_map(|port| [port, port]);
    let faults = |port: &&&Peer| {
        let share = port.loss.to_string().parse::<Share>();
        LinkFaults { drop: share.unwrap_or_default(), ..LinkFaults::default() }
    };
    let faults: Vec<LinkFaults> = both().map(|port| faults(&port)).collect();
    let delays: Vec<Duration> = both().map(|port| Duration::from_secs_f64(port.delay_seconds)).collect();
    Relay::start_delayed(middle, &faults, &delays, seed)
}

/// Bytes that an interface has received and sent, by the kernel's table.
fn carried_by(table: &str, interface: &str) -> Option<[u64; 2]> {
    let line = table.lines().find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'))?;
    let mut numbers = line.split_whitespace().map(str::parse);
    let received = numbers.next()?.ok()?;
    // Eight columns are of what was received.
    Some([received, numbers.nth(7)?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table_is_read_by_whole_names() {
        let table = "Inter-|   Receive\n face |bytes packets\n  p12: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n    \
                     p1: 100 2 0 0 0 0 0 0 200 3 0 0 0 0 0 0\n";
        assert_eq!(carried_by(table, "p1"), Some([100, 200]));
        assert_eq!(carried_by(table, "p12"), Some([7, 8]));
        assert_eq!(carried_by(table, "p2"), None);
    }
}
