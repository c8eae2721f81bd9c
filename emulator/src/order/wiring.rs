//! Namespaces and links: the server and each worker have a port to a switch, which is a bridge. A worker's
//! link with a delay, or with losses, goes through our relay.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use inart_cluster::Nic;
use inart_faults::LinkFaults;
use inart_wire::MacAddr;

use super::setting::Setting;
use crate::error::Error;
use crate::namespace::Namespace;
use crate::relay::Relay;
use crate::shaping::bucket;
use crate::wiring::namespace;

/// Where everybody listens.
const PORT: u16 = 7600;
const MTU: u16 = 1500;
/// A host's interface.
pub const UP: &str = "port";
/// What waits for longer at a port is dropped, in seconds: all workers may push at once.
const QUEUE_SECONDS: f64 = 0.2;

/// The built network. Host 0 is the server, host i + 1 worker i.
#[derive(Debug)]
pub struct OrderWiring {
    /// Before the namespaces, so that it ends before they do.
    relay: Option<Relay>,
    hosts: Vec<Namespace>,
    switch: Namespace,
    _middle: Option<Namespace>,
}

fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 62, (host / 250) as u8, 1 + (host % 250) as u8)
}

/// The Ethernet address of a host's port.
pub fn mac(host: usize) -> MacAddr {
    let [high, low] = (host as u16 + 1).to_be_bytes();
    MacAddr([0x02, 0x62, 0, 0, high, low])
}

/// Where everybody listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Where a host is found.
pub fn at(host: usize) -> SocketAddr {
    (address(host), PORT).into()
}

/// A link that is cut in two, with the relay between: the host's number, and what every frame takes.
#[derive(Debug, Clone, Copy)]
struct Cut {
    host: usize,
    delay: Duration,
}

/// The links that go through the relay.
fn cuts(setting: &Setting) -> Vec<Cut> {
    let workers = setting.job.participants.iter().enumerate();
    let is_cut = |delay_s: f64| delay_s > 0.0 || setting.drop.share().get() > 0.0;
    let cut = workers.filter(|(_, worker)| is_cut(worker.delay_s));
    cut.map(|(at, worker)| Cut { host: at + 1, delay: Duration::from_secs_f64(worker.delay_s) }).collect()
}

impl OrderWiring {
    /// Builds the network of a job.
    pub fn build(setting: &Setting) -> Result<Self, Error> {
        let job = &setting.job;
        let nics: Vec<Nic> =
            std::iter::once(job.server).chain(job.participants.iter().map(|worker| worker.nic)).collect();
        let cuts = cuts(setting);
        let hosts = nics.iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        let middle = (!cuts.is_empty()).then(namespace).transpose()?;
        let mut wiring = OrderWiring { relay: None, hosts, switch: namespace()?, _middle: None };
        wiring.links(&cuts, middle.as_ref()).map_err(Error::system("make links"))?;
        for (host, nic) in nics.iter().enumerate() {
            wiring.set_up(host, nic, middle.is_some()).map_err(Error::system("set up a host"))?;
        }
        wiring.set_up_switch(&nics).map_err(Error::system("set up the switch, a bridge"))?;
        if let Some(middle) = middle {
            let relay = relay(&middle, &cuts, setting).map_err(Error::system("start the relay"))?;
            (wiring.relay, wiring._middle) = (Some(relay), Some(middle));
        }
        Ok(wiring)
    }

    fn links(&self, cuts: &[Cut], middle: Option<&Namespace>) -> io::Result<()> {
        let mut script = String::new();
        let mut pair = |a: &str, of_a: &Namespace, b: &str, of_b: &Namespace| {
            let [of_a, of_b] = [of_a, of_b].map(Namespace::path);
            let _ = writeln!(
                script,
                "link add name {a} mtu {MTU} netns {} type veth peer name {b} mtu {MTU} netns {}",
                of_a.display(),
                of_b.display()
            );
        };
        for (host, namespace) in self.hosts.iter().enumerate() {
            let at_switch = format!("p{host}");
            match (cuts.iter().position(|cut| cut.host == host), middle) {
                (Some(number), Some(middle)) => {
                    pair(UP, namespace, &format!("a{number}"), middle);
                    pair(&format!("b{number}"), middle, &at_switch, &self.switch);
                }
                _ => pair(UP, namespace, &at_switch, &self.switch),
            }
        }
        self.switch.batch("ip", &script)
    }

    fn set_up(&self, host: usize, nic: &Nic, is_relayed: bool) -> io::Result<()> {
        let (address, mac, namespace) = (address(host), mac(host), &self.hosts[host]);
        let ip = format!(
            "link set lo up\nlink set {UP} address {mac}\naddress add {address}/16 dev {UP}\nlink set {UP} up\n"
        );
        namespace.batch("ip", &ip)?;
        if is_relayed {
            namespace.disable_checksum_offload(UP)?;
        }
        namespace.batch("tc", &bucket("add", UP, nic.out_bps, nic.out_bps, QUEUE_SECONDS))
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

    /// Frames that links have lost at random so far.
    pub fn dropped(&self) -> u64 {
        self.relay.as_ref().map_or(0, |relay| relay.counters().dropped)
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

fn relay(middle: &Namespace, cuts: &[Cut], setting: &Setting) -> io::Result<Relay> {
    let ups = (0..cuts.len()).map(|number| format!("link set a{number} up\nlink set b{number} up\n"));
    middle.batch("ip", &ups.collect::<String>())?;
    let faults = LinkFaults { drop: setting.drop.share(), ..LinkFaults::default() };
    let faults = vec![faults; 2 * cuts.len()];
    let delays: Vec<Duration> = cuts.iter().flat_map(|cut| [cut.delay; 2]).collect();
    Relay::start_delayed(middle, &faults, &delays, setting.seed)
}
