//! Namespaces and links: each peer has a port to a switch, which is a bridge, or an embedded switch where
//! that makes the copies; several are linked as in the document. Links with a delay or losses go through our
//! relay.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_faults::LinkFaults;
use inart_faults::quantity::Share;
use inart_peers::Multicast;

use super::rates::{OfPorts, UP};
use super::setting::Setting;
use super::switch::{PeersSwitches, SwitchReport};
use super::wired::{Wired, interface};
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
    copiers: Option<PeersSwitches>,
    relay: Option<Relay>,
    rates: OfPorts,
    peers: Vec<Namespace>,
    /// In the order of the network's switches.
    switches: Vec<Namespace>,
    /// The coordinator reaches all peers by links of their own, which are as fast as the machine.
    coordinator: Namespace,
    _relay_namespace: Option<Namespace>,
}

/// A link with its two ends, an interface in a namespace each.
struct Cable<'w> {
    ends: [(&'w str, &'w Namespace); 2],
    delay_seconds: f64,
    loss: f64,
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
    /// Builds the network of a job's peers.
    pub fn build(setting: &Setting) -> Result<Self, Error> {
        let Setting { mesh, multicast, .. } = setting;
        let wired = Arc::new(Wired::of(mesh)?);
        let count = mesh.jobs()[0].peers.len();
        let peers = (0..count).map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        let switches = wired.switches.iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        let mut wiring = Self {
            copiers: None,
            relay: None,
            rates: OfPorts { mesh: mesh.clone(), wired: wired.clone() },
            peers,
            switches,
            coordinator: namespace()?,
            _relay_namespace: None,
        };
        let is_relayed = wiring.cables().iter().any(|cable| cable.delay_seconds > 0.0 || cable.loss > 0.0);
        let middle = is_relayed.then(namespace).transpose()?;
        let links = wiring.links(middle.as_ref());
        wiring.coordinator.batch("ip", &links).map_err(Error::system("make links"))?;
        for switch in 0..wiring.switches.len() {
            wiring.set_up_switch(switch, *multicast).map_err(Error::system("set up a switch"))?;
        }
        wiring.set_up_coordinator().map_err(Error::system("set up the coordinator"))?;
        for rank in 0..count {
            wiring.set_up_peer(rank, is_relayed).map_err(Error::system("set up a peer"))?;
        }
        if *multicast == Multicast::Switch {
            let (program, command) = ((setting.target, setting.values_per_packet), &setting.program);
            let switches = PeersSwitches::start(mesh, &wired, program, command, &wiring.switches)?;
            wiring.copiers = Some(switches);
        }
        if let Some(middle) = middle {
            let relay =
                relay(&middle, &wiring.cables(), setting.seed).map_err(Error::system("start the relay"))?;
            (wiring.relay, wiring._relay_namespace) = (Some(relay), Some(middle));
        }
        Ok(wiring)
    }

    /// All links but those to the coordinator: the peers', by rank, and those between switches.
    fn cables(&self) -> Vec<Cable<'_>> {
        let OfPorts { mesh, wired } = &self.rates;
        let job = &mesh.jobs()[0];
        let peer = |(rank, &id): (usize, &inart_peers::PeerId)| {
            let (switch, down) = wired.at_switch(rank);
            let (of, ends) = (mesh.peer(id), [(UP, &self.peers[rank]), (&**down, &self.switches[*switch])]);
            Cable { ends, delay_seconds: of.delay_seconds, loss: of.loss }
        };
        let peers = job.peers.iter().enumerate().map(peer);
        let trunks = wired.trunks.iter().map(|trunk| {
            let [(a, of_a), (b, of_b)] = &trunk.ends;
            let ends = [(&**of_a, &self.switches[*a]), (&**of_b, &self.switches[*b])];
            Cable { ends, delay_seconds: trunk.delay_seconds, loss: trunk.loss }
        });
        peers.chain(trunks).collect()
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
        for (number, cable) in self.cables().iter().enumerate() {
            let [first, second] = cable.ends;
            match middle {
                None => pair(first, second),
                Some(middle) => {
                    pair(first, (&format!("a{number}"), middle));
                    pair((&format!("b{number}"), middle), second);
                }
            }
        }
        for (rank, peer) in self.peers.iter().enumerate() {
            pair(("manage", peer), (&format!("m{rank}"), &self.coordinator));
        }
        script
    }

    fn set_up_switch(&self, switch: usize, multicast: Multicast) -> io::Result<()> {
        let (mut ip, master) = match multicast {
            Multicast::Hosts => {
                (String::from("link add fabric type bridge\nlink set fabric up\n"), "master fabric ")
            }
            Multicast::Switch => (String::new(), ""),
        };
        for place in 0..self.rates.wired.switches[switch].ports.len() {
            let _ = writeln!(ip, "link set {} {master}up", interface(place));
        }
        let place = &self.switches[switch];
        place.batch("ip", &ip)?;
        place.batch("tc", &self.rates.script_of("add", self.peers.len() + switch, 0.0))
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
        peer.batch("tc", &self.rates.script_of("add", rank, 0.0))?;
        if is_relayed {
            peer.disable_checksum_offload(UP)?;
        }
        Ok(())
    }

    /// Changes rates when the traces say so, whose time 0 was at `began`.
    pub fn follow(&self, began: Instant) -> io::Result<RateFollower> {
        let of = |name: String, namespace: &Namespace| Ok((name, namespace.duplicate()?));
        let peers = self.peers.iter().enumerate().map(|(rank, peer)| of(format!("peer {rank}"), peer));
        let switches = self.rates.wired.switches.iter().zip(&self.switches);
        let switches = switches.map(|(switch, place)| of(format!("switch {}", switch.name), place));
        let all = peers.chain(switches).collect::<io::Result<_>>()?;
        RateFollower::start(self.rates.clone(), all, began)
    }

    pub fn peer(&self, rank: usize) -> &Namespace {
        &self.peers[rank]
    }

    pub fn coordinator(&self) -> &Namespace {
        &self.coordinator
    }

    /// Bytes of frames that each peer's port has carried so far, up and down, by rank.
    pub fn carried(&self) -> io::Result<Vec<[u64; 2]>> {
        let table = |switch: &Namespace| switch.run(|| std::fs::read_to_string("/proc/thread-self/net/dev"));
        let tables = self.switches.iter().map(table).collect::<io::Result<Vec<_>>>()?;
        let count = |rank: usize| {
            let (switch, down) = self.rates.wired.at_switch(rank);
            carried_by(&tables[*switch], down)
        };
        let lacking = || io::Error::other("the kernel's table of interfaces lacks a port");
        (0..self.peers.len()).map(|rank| count(rank).ok_or_else(lacking)).collect()
    }

    /// What the switches that make the copies have counted so far; nothing where hosts do.
    pub fn counted(&mut self) -> Result<Vec<SwitchReport>, Error> {
        match &mut self.copiers {
            Some(copiers) => copiers.counted(&self.rates.wired),
            None => Ok(Vec::new()),
        }
    }

    /// Frames that links lost at random so far.
    pub fn lost(&self) -> u64 {
        self.relay.as_ref().map_or(0, |relay| relay.counters().dropped)
    }
}

fn relay(middle: &Namespace, cables: &[Cable<'_>], seed: u64) -> io::Result<Relay> {
    let ups = (0..cables.len()).map(|number| format!("link set a{number} up\nlink set b{number} up\n"));
    middle.batch("ip", &ups.collect::<String>())?;
    let both = || cables.iter().flat_map(|cable| [cable, cable]);
    let faults = |cable: &Cable<'_>| {
        let share = cable.loss.to_string().parse::<Share>();
        LinkFaults { drop: share.unwrap_or_default(), ..LinkFaults::default() }
    };
    let faults: Vec<LinkFaults> = both().map(faults).collect();
    let delays: Vec<Duration> = both().map(|cable| Duration::from_secs_f64(cable.delay_seconds)).collect();
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
