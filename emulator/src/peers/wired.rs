//! The switches between the peers of a job, and what is behind their ports: a function of the network alone.

use inart_controller::{PortMap, PortsError};
use inart_tables::PortNo;
use inart_topologies::peers::Mesh;

/// Node at the other end of a switch's port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Neighbor {
    /// A peer of the job, by its rank.
    Peer(usize),
    /// Another switch.
    Switch,
}

/// A port that is wired.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WiredPort {
    /// The switch's number for it. Its interface is named by its place among those that are wired.
    pub number: PortNo,
    pub neighbor: Neighbor,
}

/// A switch with the ports that lead to peers of the job or to other switches.
#[derive(Debug, Clone, PartialEq)]
pub struct WiredSwitch {
    pub name: String,
    pub ports: Vec<WiredPort>,
}

/// One end of a link: the switch, and its interface there.
pub type End = (usize, String);

/// A link between two switches.
#[derive(Debug, Clone, PartialEq)]
pub struct Trunk {
    pub ends: [End; 2],
    /// Rate of each end, in bit/s.
    pub rates_bps: [f64; 2],
    pub delay_seconds: f64,
    pub loss: f64,
}

/// The switches of a network whose only job has these peers.
#[derive(Debug, Clone, PartialEq)]
pub struct Wired {
    pub switches: Vec<WiredSwitch>,
    pub trunks: Vec<Trunk>,
    /// By rank.
    peers: Vec<End>,
}

/// A switch's interface to what is behind its port at this place; the first is `p1`.
pub fn interface(place: usize) -> String {
    format!("p{}", place + 1)
}

impl Wired {
    /// The switches of a network with one job.
    ///
    /// # Errors
    /// A network that is too large to number.
    pub fn of(mesh: &Mesh) -> Result<Self, PortsError> {
        let numbers = PortMap::of_mesh(mesh)?;
        let job = &mesh.jobs()[0];
        let names = mesh.switches();
        let mut switches: Vec<WiredSwitch> =
            names.iter().map(|name| WiredSwitch { name: name.clone(), ports: Vec::new() }).collect();
        let mut wire = |switch: usize, to: &str, neighbor: Neighbor| -> Option<End> {
            let number = numbers.port(&names[switch], to)?;
            let ports = &mut switches[switch].ports;
            ports.push(WiredPort { number, neighbor });
            Some((switch, interface(ports.len() - 1)))
        };
        let peer = |(rank, &peer): (usize, &inart_topologies::peers::PeerId)| {
            wire(mesh.peer(peer).switch, mesh.name_of(job, rank), Neighbor::Peer(rank))
        };
        let peers = job.peers.iter().enumerate().filter_map(peer).collect();
        let trunk = |trunk: &inart_topologies::peers::TrunkLink| {
            let [a, b] = trunk.ends;
            let ends = [wire(a, &names[b], Neighbor::Switch)?, wire(b, &names[a], Neighbor::Switch)?];
            let (rates_bps, delay_seconds, loss) = (trunk.rates_bps, trunk.delay_seconds, trunk.loss);
            Some(Trunk { ends, rates_bps, delay_seconds, loss })
        };
        let trunks = mesh.trunks().iter().filter_map(trunk).collect();
        Ok(Wired { switches, trunks, peers })
    }

    /// The end of a peer's link that is at a switch.
    pub fn at_switch(&self, rank: usize) -> &End {
        &self.peers[rank]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_of_the_ports_that_are_wired_and_numbers_are_the_switches_own() {
        let mesh = Mesh::from_yaml(
            "{name: m, nodes: [{name: s, kind: switch}, {name: t, kind: switch}, {name: a, kind: peer}, \
             {name: b, kind: peer}, {name: c, kind: peer}, {name: d, kind: peer}], links: [\
             {ends: [a, s], rate: 1 Gbps}, {ends: [b, s], rate: 1 Gbps}, {ends: [c, t], rate: 1 Gbps}, \
             {ends: [d, t], rate: 1 Gbps}, {ends: [t, s], rate: [2 Gbps, 4 Gbps], delay: 1 ms}], \
             jobs: [{name: j, peers: [d, b, c], receivers: 1, update: 16 B}]}",
        )
        .expect("a network");
        let wired = Wired::of(&mesh).expect("numbers");
        let of = |switch: usize| -> Vec<(u16, Neighbor)> {
            wired.switches[switch].ports.iter().map(|port| (port.number.get(), port.neighbor)).collect()
        };
        // a is in no job: s has its port 1 all the same, which nothing is wired to.
        assert_eq!(of(0), [(2, Neighbor::Peer(1)), (3, Neighbor::Switch)]);
        assert_eq!(of(1), [(2, Neighbor::Peer(0)), (1, Neighbor::Peer(2)), (3, Neighbor::Switch)]);
        assert_eq!(wired.at_switch(1), &(0, "p1".to_owned()));
        assert_eq!(wired.at_switch(2), &(1, "p2".to_owned()));
        let [trunk] = &wired.trunks[..] else { panic!("{:?}", wired.trunks) };
        assert_eq!(trunk.ends, [(1, "p3".to_owned()), (0, "p2".to_owned())]);
        assert_eq!(trunk.rates_bps, [2e9, 4e9]);
        assert!(trunk.delay_seconds > 0.0);
    }
}
