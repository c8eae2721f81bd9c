//! A network of namespaces: one per host, one per switch's ports, joined by rate-limited veth pairs.
//!
//! Switch ports are named `p1`, `p2`, … after their numbers, host interfaces `eth0`, `eth1`, …. Every end of
//! a link sends through an HTB class of the link's rate and a short first-in-first-out queue.

use std::fmt::Write;
use std::io;
use std::net::Ipv4Addr;

use inart_topologies::faults::quantity::QueueLimit;
use inart_wire::{ETHERNET_BYTES, MacAddr};

use crate::machine::namespace::Namespace;
use crate::machine::veth;

/// Duration of a burst that HTB sends at once, so that a late timer costs no throughput.
const BURST_SECONDS: f64 = 0.004;
/// Least burst, in frames of the greatest length.
const BURST_MIN_FRAMES: f64 = 4.0;

/// A host's or switch's place in a [`Blueprint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A switch, whose interfaces are ports without addresses.
    Switch,
    /// A host, whose first interface has these addresses.
    Host {
        /// Ethernet address.
        mac: MacAddr,
        /// IPv4 address in 10.0.0.0/8.
        ip: Ipv4Addr,
    },
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEnd {
    /// The node.
    pub node: NodeIndex,
    /// Number of the interface: a switch's port (from 1) or a host's interface (from 0).
    pub interface: usize,
    /// Rate at which this end may send, in bits of Ethernet frames per second.
    pub rate_bps: f64,
    /// Longest frame that the link carries, in bytes without the Ethernet header; the same at both ends.
    pub mtu: u16,
}

/// A network to build, with scaled rates.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Blueprint {
    /// Names, for messages, and kinds.
    pub nodes: Vec<(String, NodeKind)>,
    /// Both ends of each link.
    pub links: Vec<[LinkEnd; 2]>,
    /// Queue at each end of a link.
    pub queue: QueueLimit,
}

impl Blueprint {
    /// Name of an end's interface inside its node.
    pub fn interface_name(&self, end: &LinkEnd) -> String {
        match self.nodes[end.node.0].1 {
            NodeKind::Switch => format!("p{}", end.interface),
            NodeKind::Host { .. } => format!("eth{}", end.interface),
        }
    }
}

/// The namespaces of a built network. Everything is removed when this is dropped and no child uses them any
/// more.
#[derive(Debug)]
pub struct Wiring {
    namespaces: Vec<Namespace>,
    /// Holds the inner ends of every link when frames have to pass a relay.
    relay: Option<Namespace>,
}

/// Why a network could not be built.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    /// Not allowed.
    #[error("cannot create network namespaces: {0}; run as root")]
    NotAllowed(io::Error),
    /// The kernel or iproute2 refused something.
    #[error("cannot set up {place}: {cause}")]
    Setup {
        /// The node, or the links.
        place: String,
        /// Error of the system.
        cause: io::Error,
    },
}

impl Wiring {
    /// Builds the network. With `relayed`, each link is cut in two and its inner ends wait in the relay's
    /// namespace as `a0`/`b0`, `a1`/`b1`, …: a relay must carry the frames across.
    ///
    /// # Errors
    /// [`WiringError`] for a namespace or link that cannot be created.
    pub fn build(blueprint: &Blueprint, relayed: bool) -> Result<Self, WiringError> {
        let namespaces = blueprint.nodes.iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        let relay = relayed.then(namespace).transpose()?;
        let wiring = Self { namespaces, relay };
        if let Some(first) = wiring.namespaces.first() {
            let cause = |cause| WiringError::Setup { place: "the links".into(), cause };
            first.batch("ip", &wiring.link_script(blueprint)).map_err(cause)?;
        }
        if let Some(relay) = &wiring.relay {
            let cause = |cause| WiringError::Setup { place: "the relay".into(), cause };
            relay.batch("ip", &veth::inner_ends_up(blueprint.links.len())).map_err(cause)?;
        }
        for (index, (name, kind)) in blueprint.nodes.iter().enumerate() {
            let cause = |cause| WiringError::Setup { place: name.clone(), cause };
            wiring.set_up(blueprint, NodeIndex(index), *kind).map_err(cause)?;
        }
        Ok(wiring)
    }

    /// The namespace of a node.
    pub fn namespace(&self, node: NodeIndex) -> &Namespace {
        &self.namespaces[node.0]
    }

    /// The relay's namespace, if the links were cut.
    pub fn relay(&self) -> Option<&Namespace> {
        self.relay.as_ref()
    }

    /// Creates all links, each end right in its namespace.
    fn link_script(&self, blueprint: &Blueprint) -> String {
        let link = |(number, ends): (usize, &[LinkEnd; 2])| {
            let [a, b] = ends.each_ref().map(|end| (blueprint.interface_name(end), self.namespace(end.node)));
            let cut = self.relay.as_ref().map(|relay| (number, relay));
            veth::link([(&a.0, a.1), (&b.0, b.1)], ends[0].mtu, cut)
        };
        blueprint.links.iter().enumerate().map(link).collect()
    }

    /// Addresses, rates and state of one node's interfaces.
    fn set_up(&self, blueprint: &Blueprint, node: NodeIndex, kind: NodeKind) -> io::Result<()> {
        let namespace = self.namespace(node);
        let ends = || blueprint.links.iter().flatten().filter(|end| end.node == node);
        let (mut ip, mut tc) = (String::from("link set lo up\n"), String::new());
        for end in ends() {
            let name = blueprint.interface_name(end);
            if let (NodeKind::Host { mac, ip: address }, 0) = (kind, end.interface) {
                let _ = writeln!(ip, "link set {name} address {mac}\naddress add {address}/8 dev {name}");
            }
            let _ = writeln!(ip, "link set {name} up");
            tc.push_str(&rate_script(&name, end, blueprint.queue));
        }
        namespace.batch("ip", &ip)?;
        namespace.batch("tc", &tc)?;
        if matches!(kind, NodeKind::Host { .. }) {
            for end in ends() {
                namespace.disable_checksum_offload(&blueprint.interface_name(end))?;
            }
        }
        Ok(())
    }
}

/// A fresh namespace.
///
/// # Errors
/// [`WiringError`] if the kernel makes none; root is needed.
pub fn namespace() -> Result<Namespace, WiringError> {
    Namespace::new().map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => WiringError::NotAllowed(error),
        _ => WiringError::Setup { place: "a network namespace".into(), cause: error },
    })
}

/// Returns the line for `tc` with one HTB class for all traffic that leaves the interface.
fn rate_script(interface: &str, end: &LinkEnd, queue: QueueLimit) -> String {
    let (rate, mtu) = (end.rate_bps.max(8.0).round(), end.mtu);
    let burst = (rate / 8.0 * BURST_SECONDS).max(BURST_MIN_FRAMES * f64::from(mtu)).round();
    let quantum = usize::from(mtu) + ETHERNET_BYTES;
    let queue = match queue {
        QueueLimit::Frames(frames) => format!("pfifo limit {frames}"),
        QueueLimit::Bytes(bytes) => format!("bfifo limit {bytes}"),
    };
    format!(
        "qdisc add dev {interface} root handle 1: htb default 1\n\
         class add dev {interface} parent 1: classid 1:1 htb rate {rate}bit burst {burst} cburst {burst} \
         quantum {quantum}\n\
         qdisc add dev {interface} parent 1:1 {queue}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_become_one_htb_class_with_a_burst_of_a_few_frames() {
        let script = |rate_bps, mtu, queue| {
            rate_script("p3", &LinkEnd { node: NodeIndex(0), interface: 3, rate_bps, mtu }, queue)
        };
        let plain = script(25e6, 1500, QueueLimit::default());
        assert!(plain.contains("dev p3 parent 1: classid 1:1 htb rate 25000000bit burst 12500 "), "{plain}");
        assert!(plain.contains("quantum 1514\n"), "a whole frame: {plain}");
        assert!(script(1e5, 1500, QueueLimit::Frames(9)).contains("rate 100000bit burst 6000 "));
        let jumbo = script(1e5, 9000, QueueLimit::Frames(9));
        assert!(jumbo.contains("burst 36000 ") && jumbo.contains("quantum 9014\n"), "{jumbo}");
    }
}
