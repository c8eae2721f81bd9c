//! Namespaces and cables: the server and each worker have a port to a switch, which is a bridge.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use inart_topologies::faults::quantity::Share;
use inart_topologies::ps::Nic;
use inart_wire::MacAddr;

use super::setting::Setting;
use crate::error::Error;
use crate::machine::cables::{Cable, Cables, End, Endpoint, Plan, Speeds};
use crate::machine::namespace::Namespace;
use crate::machine::wiring::namespace;

/// Port at which every process listens.
const PORT: u16 = 7600;
/// A host's interface.
pub const UP: &str = "port";
/// Longest wait at a port before a drop, in seconds: all workers may push at once.
const QUEUE_SECONDS: f64 = 0.2;

/// The built network. Host 0 is the server, host i + 1 worker i; the switch comes last.
#[derive(Debug)]
pub struct PsWiring(Cables);

/// Rates of ports, which do not change.
#[derive(Debug)]
struct Ports(Vec<Nic>);

impl Speeds for Ports {
    fn next_change(&self, _: f64) -> Option<f64> {
        None
    }

    fn at(&self, _: f64) -> Vec<[f64; 2]> {
        self.0.iter().map(|nic| [nic.out_bps, nic.in_bps]).collect()
    }
}

fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 62, (host / 250) as u8, 1 + (host % 250) as u8)
}

/// The Ethernet address of a host's port.
pub fn mac(host: usize) -> MacAddr {
    let [high, low] = (host as u16 + 1).to_be_bytes();
    MacAddr([0x02, 0x62, 0, 0, high, low])
}

/// Returns the address at which every process listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Returns the address of a host.
pub fn at(host: usize) -> SocketAddr {
    (address(host), PORT).into()
}

impl PsWiring {
    /// Builds the network of a job.
    pub fn build(setting: &Setting) -> Result<Self, Error> {
        let job = &setting.job;
        let server = (setting.server.clone(), job.server, 0.0, Share::default());
        let workers = job.participants.iter();
        let drop = setting.drop.share();
        let workers = workers.map(|worker| (worker.name.clone(), worker.nic, worker.delay_s, drop));
        let hosts: Vec<_> = std::iter::once(server).chain(workers).collect();
        let (mut places, mut cables) = (Vec::new(), Vec::new());
        let mut ip = String::from("link add fabric type bridge\nlink set fabric up\n");
        for (host, (name, _, delay_s, loss)) in hosts.iter().enumerate() {
            places.push(Endpoint { name: name.clone(), namespace: namespace()?, ip: host_script(host) });
            let at_switch = format!("p{host}");
            let _ = writeln!(ip, "link set {at_switch} master fabric up");
            let ends = [
                End { place: host, interface: UP.to_owned() },
                End { place: hosts.len(), interface: at_switch },
            ];
            cables.push(Cable { ends, delay: Duration::from_secs_f64(*delay_s), loss: *loss });
        }
        places.push(Endpoint { name: "the switch, a bridge".to_owned(), namespace: namespace()?, ip });
        let speeds = Arc::new(Ports(hosts.iter().map(|(_, nic, ..)| *nic).collect()));
        let (unlimited, queue_s, seed) = (Vec::new(), QUEUE_SECONDS, setting.seed);
        Cables::lay(Plan { places, cables, unlimited, speeds, queue_s, seed }).map(Self)
    }

    /// A host's namespace.
    pub fn host(&self, host: usize) -> &Namespace {
        self.0.namespace(host)
    }

    /// Returns the number of frames that links have lost at random.
    pub fn dropped(&self) -> u64 {
        self.0.lost()
    }

    /// Returns the bytes of frames that the server's port has carried: into the server, and out of it.
    pub fn carried(&self) -> Result<[u64; 2], Error> {
        self.0.carried(0, &[UP]).map(|ports| ports[0])
    }
}

fn host_script(host: usize) -> String {
    let (address, mac) = (address(host), mac(host));
    format!(
        "link set lo up\nlink set {UP} address {mac}\naddress add {address}/16 dev {UP}\nlink set {UP} up\n"
    )
}
