//! Ports of switches in the topology compared with the switches' own: wanted setup, and problems. Pure.

use std::collections::BTreeMap;
use std::fmt;

use inart_tables::PortNo;
use inart_targets::{Fec, PortSetup, PortStatus, Target};
use inart_topologies::switched::{SwitchPort, Topology};

use crate::ports::PortMap;

/// Port speeds, Gbit/s.
const SPEEDS: [u32; 5] = [10, 25, 40, 50, 100];

/// Port of a switch with a link. Displays as in `port 1 (9/0, dev_port 56) to w1`.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkPort {
    /// Our number.
    pub port: PortNo,
    /// Node at the other end.
    pub peer: String,
    /// Name of the port in the topology.
    pub stated: Option<SwitchPort>,
    /// Number on the switch.
    pub number: u64,
    /// Rate of the link, bit/s.
    pub rate_bps: f64,
}

impl fmt::Display for LinkPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} (", self.port)?;
        if let Some(front @ SwitchPort::Front { .. }) = self.stated {
            write!(f, "{front}, ")?;
        }
        write!(f, "dev_port {}) to {}", self.number, self.peer)
    }
}

/// Link whose rate is not a port speed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "link to {peer}: its rate of {gbps} Gbps is not a port speed: give the link 10, 25, 40, 50 or 100 Gbps"
)]
pub struct NoSuchSpeed {
    /// Other end of the link.
    pub peer: String,
    /// Rate of the link, Gbit/s.
    pub gbps: f64,
}

/// Returns the ports with links of a switch of a target, in order.
pub fn link_ports(topology: &Topology, ports: &PortMap, switch: &str, target: &dyn Target) -> Vec<LinkPort> {
    let Some(id) = topology.node_named(switch) else { return Vec::new() };
    let of_port = |(port, number)| {
        let peer = ports.peer(switch, port)?;
        let link = topology.link(topology.link_between(id, topology.node_named(peer)?)?);
        let stated = link.named_ports().find(|(end, _)| *end == id).map(|(_, stated)| stated);
        Some(LinkPort {
            port,
            peer: peer.to_owned(),
            stated,
            number,
            rate_bps: link.rates_bps[0].max(link.rates_bps[1]),
        })
    };
    ports.numbered(switch, target).into_iter().filter_map(of_port).collect()
}

/// Returns the setups of ports that differ from the topology: with the links' rates, and `fec`, by default
/// Reed-Solomon at 100 Gbit/s.
///
/// # Errors
/// A link whose rate is not a port speed.
pub fn to_set_up(
    wanted: &[LinkPort],
    found: &BTreeMap<u64, PortStatus>,
    fec: Option<Fec>,
) -> Result<BTreeMap<u64, PortSetup>, NoSuchSpeed> {
    let mut setups = BTreeMap::new();
    for link in wanted {
        let speed = SPEEDS.into_iter().find(|gbps| f64::from(*gbps) * 1e9 == link.rate_bps);
        let gbps = speed.ok_or_else(|| NoSuchSpeed { peer: link.peer.clone(), gbps: link.rate_bps / 1e9 })?;
        let usual = if gbps == 100 { Fec::ReedSolomon } else { Fec::None };
        let setup = PortSetup { gbps, fec: fec.unwrap_or(usual), enabled: true, loopback: false };
        if found.get(&link.number).is_none_or(|status| status.setup != setup) {
            setups.insert(link.number, setup);
        }
    }
    Ok(setups)
}

/// Returns front ports whose numbers on the switch differ from the topology's board, each with the fix.
pub fn elsewhere(wanted: &[LinkPort], front: &BTreeMap<(u32, u32), u64>) -> Vec<String> {
    let differs = |link: &LinkPort| {
        let Some(SwitchPort::Front { front: connector, lane }) = link.stated else { return None };
        let theirs = front.get(&(connector.into(), lane.into()));
        match theirs {
            Some(number) if *number == link.number => None,
            Some(number) => {
                Some(format!("{link} is dev_port {number} there: give the topology dev_ports of this switch"))
            }
            None => Some(format!("{link}: the switch has no front port {connector}/{lane}")),
        }
    };
    wanted.iter().filter_map(differs).collect()
}

/// Returns problems of a switch's ports, each with the fix.
pub fn problems(wanted: &[LinkPort], found: &BTreeMap<u64, PortStatus>) -> Vec<String> {
    const BRING_UP: &str = "`inart ports` brings it up";
    let problem = |link: &LinkPort| {
        let what = match found.get(&link.number) {
            None => format!("has not been added: {BRING_UP}"),
            Some(status) if !status.setup.enabled => format!("is not enabled: {BRING_UP}"),
            Some(status) if status.setup.loopback => {
                format!("is in loopback mode: {BRING_UP}")
            }
            Some(status) if !status.up => {
                "is down: look at the cable, and at speed, FEC and autonegotiation of the other end"
                    .to_owned()
            }
            Some(_) => return None,
        };
        Some(format!("{link} {what}"))
    };
    wanted.iter().filter_map(problem).collect()
}
