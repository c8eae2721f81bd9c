//! Namespaces and links: the server and each worker have a port to a switch, which is a bridge.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use inart_cluster::{Job, Nic};

use crate::error::Error;
use crate::namespace::Namespace;
use crate::shaping::bucket;
use crate::wiring::namespace;

/// Where everybody listens.
const PORT: u16 = 7600;
const MTU: u16 = 1500;
/// A host's interface.
const UP: &str = "port";
/// What waits for longer at a port is dropped, in seconds: all workers may push at once.
const QUEUE_SECONDS: f64 = 0.2;

/// The built network. Host 0 is the server, host i + 1 worker i.
#[derive(Debug)]
pub struct OrderWiring {
    hosts: Vec<Namespace>,
    switch: Namespace,
}

fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 62, (host / 250) as u8, 1 + (host % 250) as u8)
}

/// Where everybody listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Where a host is found.
pub fn at(host: usize) -> SocketAddr {
    (address(host), PORT).into()
}

impl OrderWiring {
    /// Builds the network of a job.
    pub fn build(job: &Job) -> Result<Self, Error> {
        let nics: Vec<Nic> =
            std::iter::once(job.server).chain(job.participants.iter().map(|worker| worker.nic)).collect();
        let hosts = nics.iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        let wiring = OrderWiring { hosts, switch: namespace()? };
        wiring.links().map_err(Error::system("make links"))?;
        for (host, nic) in nics.iter().enumerate() {
            wiring.set_up(host, nic).map_err(Error::system("set up a host"))?;
        }
        wiring.set_up_switch(&nics).map_err(Error::system("set up the switch, a bridge"))?;
        Ok(wiring)
    }

    fn links(&self) -> io::Result<()> {
        let mut script = String::new();
        for (host, namespace) in self.hosts.iter().enumerate() {
            let _ = writeln!(
                script,
                "link add name {UP} mtu {MTU} netns {} type veth peer name p{host} mtu {MTU} netns {}",
                namespace.path().display(),
                self.switch.path().display()
            );
        }
        self.switch.batch("ip", &script)
    }

    fn set_up(&self, host: usize, nic: &Nic) -> io::Result<()> {
        let address = address(host);
        let ip = format!("link set lo up\naddress add {address}/16 dev {UP}\nlink set {UP} up\n");
        self.hosts[host].batch("ip", &ip)?;
        self.hosts[host].batch("tc", &bucket("add", UP, nic.out_bps, nic.out_bps, QUEUE_SECONDS))
    }

    fn set_up_switch(&self, nics: &[Nic]) -> io::Result<()> {
        let mut ip = String::from("link add fabric type bridge\nlink set fabric up\n");
        let mut tc = String::new();
        for (host, nic) in nics.iter().enumerate() {
            let _ = writeln!(ip, "link set p{host} master fabric up");
            tc.push_str(&bucket("add", &format!("p{host}"), nic.in_bps, nic.in_bps, QUEUE_SECONDS));
        }
        self.switch.batch("ip", &ip)?;
        self.switch.batch("tc", &tc)
    }

    /// A host's namespace.
    pub fn host(&self, host: usize) -> &Namespace {
        &self.hosts[host]
    }

    /// Bytes of frames that the server's port has carried so far: into the server, and out of it.
    pub fn carried(&self) -> io::Result<[u64; 2]> {
        let table = self.hosts[0].run(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let line = table.lines().find_map(|line| line.trim().strip_prefix(UP)?.strip_prefix(':'));
        let counts: Vec<u64> =
            line.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match counts[..] {
            [into, _, _, _, _, _, _, _, out, ..] => Ok([into, out]),
            _ => Err(io::Error::other("the kernel's table of interfaces lacks the server's port")),
        }
    }
}
