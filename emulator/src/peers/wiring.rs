//! Namespaces and cables: each peer has a port to a switch, which is a bridge, or an embedded switch where
//! that makes the copies; several are linked as in the document.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_planner_peers::Multicast;

use super::rates::{PortRates, UP};
use super::setting::Setting;
use super::switch::{PeersSwitches, SwitchReport};
use super::wired::{Wired, interface};
use crate::error::Error;
use crate::machine::cables::{Cable, Cables, End, Endpoint, Plan, share};
use crate::machine::namespace::Namespace;
use crate::machine::shaping::RateFollower;
use crate::machine::wiring::namespace;

/// Port at which every process listens.
const PORT: u16 = 7500;
/// Longest wait at a port before a drop, in seconds. Many updates meet at a port, each on a connection of its
/// own with at least two frames in flight.
const QUEUE_SECONDS: f64 = 0.2;
const COORDINATOR: Ipv4Addr = Ipv4Addr::new(10, 254, 255, 254);

/// The built network. Places are the peers, by rank, behind them the network's switches, and last the
/// coordinator, which reaches all peers by links of their own, which are as fast as the machine.
#[derive(Debug)]
pub struct PeersWiring {
    /// Before the namespaces, so that they end before those do.
    copiers: Option<PeersSwitches>,
    cables: Cables,
    wired: Arc<Wired>,
    peers: usize,
}

fn address(network: u8, rank: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, network, (rank / 250) as u8, 1 + (rank % 250) as u8)
}

/// Returns the address at which every process listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Returns the address of a peer for peers.
pub fn at_port(rank: usize) -> SocketAddr {
    (address(61, rank), PORT).into()
}

/// Returns the address of a peer for the coordinator.
pub fn from_coordinator(rank: usize) -> SocketAddr {
    (address(254, rank), PORT).into()
}

/// Returns the address of the coordinator for peers.
pub fn coordinator() -> SocketAddr {
    (COORDINATOR, PORT).into()
}

impl PeersWiring {
    /// Builds the network of a job's peers.
    pub fn build(setting: &Setting) -> Result<Self, Error> {
        let Setting { mesh, multicast, .. } = setting;
        let wired = Arc::new(Wired::of(mesh)?);
        let peers = mesh.jobs()[0].peers.len();
        let manage =
            |rank: usize| [end(rank, "manage"), end(peers + wired.switches.len(), &format!("m{rank}"))];
        let cables = Cables::lay(Plan {
            places: places(setting, &wired)?,
            cables: cables(setting, &wired),
            unlimited: (0..peers).map(manage).collect(),
            speeds: Arc::new(PortRates { mesh: mesh.clone(), wired: wired.clone() }),
            queue_s: QUEUE_SECONDS,
            seed: setting.seed,
        })?;
        let mut wiring = Self { copiers: None, cables, wired, peers };
        if *multicast == Multicast::Switch {
            let (program, command) = ((setting.target, setting.values_per_frame), &setting.program);
            let place = |switch: usize| wiring.cables.namespace(peers + switch);
            let switches = PeersSwitches::start(mesh, &wiring.wired, program, command, &place)?;
            wiring.copiers = Some(switches);
        }
        Ok(wiring)
    }

    /// Changes rates by the traces, whose time 0 was at `began`.
    pub fn follow(&self, began: Instant) -> Result<RateFollower, Error> {
        self.cables.follow(began)
    }

    pub fn peer(&self, rank: usize) -> &Namespace {
        self.cables.namespace(rank)
    }

    pub fn coordinator(&self) -> &Namespace {
        self.cables.namespace(self.peers + self.wired.switches.len())
    }

    /// Returns the bytes of frames that each peer's port has carried, up and down, by rank.
    pub fn carried(&self) -> Result<Vec<[u64; 2]>, Error> {
        let mut by_rank = vec![[0; 2]; self.peers];
        for switch in 0..self.wired.switches.len() {
            let own = (0..self.peers).filter(|rank| self.wired.at_switch(*rank).0 == switch);
            let (ranks, ports): (Vec<usize>, Vec<&str>) =
                own.map(|rank| (rank, self.wired.at_switch(rank).1.as_str())).unzip();
            let counts = self.cables.carried(self.peers + switch, &ports)?;
            ranks.into_iter().zip(counts).for_each(|(rank, count)| by_rank[rank] = count);
        }
        Ok(by_rank)
    }

    /// Returns the counters of the switches that copy updates; empty where hosts do.
    pub fn counted(&mut self) -> Result<Vec<SwitchReport>, Error> {
        match &mut self.copiers {
            Some(copiers) => copiers.counted(&self.wired),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the number of frames that links lost at random.
    pub fn lost(&self) -> u64 {
        self.cables.lost()
    }
}

fn end(place: usize, interface: &str) -> End {
    End { place, interface: interface.to_owned() }
}

/// The peers' cables, by rank, and those between switches.
fn cables(setting: &Setting, wired: &Wired) -> Vec<Cable> {
    let mesh = &setting.mesh;
    let job = &mesh.jobs()[0];
    let cable = |ends: [End; 2], delay_s: f64, loss: f64| Cable {
        ends,
        delay: Duration::from_secs_f64(delay_s),
        loss: share(loss),
    };
    let at_switch = |(switch, interface): &(usize, String)| end(job.peers.len() + switch, interface);
    let peer = |(rank, &id): (usize, &inart_topologies::peers::PeerId)| {
        let of = mesh.peer(id);
        cable([end(rank, UP), at_switch(wired.at_switch(rank))], of.delay_seconds, of.loss)
    };
    let trunks = wired.trunks.iter();
    let trunks =
        trunks.map(|trunk| cable(trunk.ends.each_ref().map(at_switch), trunk.delay_seconds, trunk.loss));
    job.peers.iter().enumerate().map(peer).chain(trunks).collect()
}

fn places(setting: &Setting, wired: &Wired) -> Result<Vec<Endpoint>, Error> {
    let mut all = Vec::new();
    let names = setting.names();
    let mut of_coordinator = String::from("link set lo up\nlink add manage type bridge\n");
    let _ = writeln!(of_coordinator, "address add {COORDINATOR}/16 dev manage\nlink set manage up");
    for (rank, name) in names.iter().enumerate() {
        let mut ip = String::from("link set lo up\n");
        for (interface, network) in [(UP, 61), ("manage", 254)] {
            let address = address(network, rank);
            let _ = writeln!(ip, "address add {address}/16 dev {interface}\nlink set {interface} up");
        }
        let _ = writeln!(of_coordinator, "link set m{rank} master manage up");
        all.push(Endpoint { name: format!("peer {name}"), namespace: namespace()?, ip });
    }
    for switch in &wired.switches {
        let (mut ip, master) = match setting.multicast {
            Multicast::Hosts => {
                (String::from("link add fabric type bridge\nlink set fabric up\n"), "master fabric ")
            }
            Multicast::Switch => (String::new(), ""),
        };
        for place in 0..switch.ports.len() {
            let _ = writeln!(ip, "link set {} {master}up", interface(place));
        }
        all.push(Endpoint { name: format!("switch {}", switch.name), namespace: namespace()?, ip });
    }
    let name = "the coordinator".to_owned();
    all.push(Endpoint { name, namespace: namespace()?, ip: of_coordinator });
    Ok(all)
}
