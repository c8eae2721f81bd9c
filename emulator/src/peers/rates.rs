//! Rates of ports: up at the peer's end of its link, down at the switch's; of links between switches, which
//! do not change.

use std::sync::Arc;

use inart_topologies::peers::{Mesh, PeerJob};

use super::wired::Wired;
use crate::machine::cables::Speeds;

/// A peer's interface.
pub const UP: &str = "port";

/// The ports of a network's only job: its peers' links, by rank, and behind them those between switches.
#[derive(Debug, Clone)]
pub struct PortRates {
    pub mesh: Arc<Mesh>,
    pub wired: Arc<Wired>,
}

impl PortRates {
    fn job(&self) -> &PeerJob {
        &self.mesh.jobs()[0]
    }
}

impl Speeds for PortRates {
    fn next_change(&self, after_s: f64) -> Option<f64> {
        self.mesh.next_change(self.job(), after_s)
    }

    fn at(&self, now_s: f64) -> Vec<[f64; 2]> {
        let ports = self.mesh.ports_at(self.job(), now_s);
        let peers = ports.up_bps.iter().zip(&ports.down_bps).map(|(&up_bps, &down_bps)| [up_bps, down_bps]);
        peers.chain(self.wired.trunks.iter().map(|trunk| trunk.rates_bps)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: &str = "{name: m, nodes: [{name: s, kind: switch}, {name: t, kind: switch}, \
        {name: a, kind: peer}, {name: b, kind: peer}], \
        links: [{ends: [s, t], rate: [32 Mbps, 48 Mbps]}, {ends: [a, s], rate: [8 Mbps, 16 Mbps]}, \
        {ends: [b, t], rate: 24 Mbps}], \
        traces: [{link: [t, b], every: 10 s, rates: [24 Mbps, 2 Mbps]}], \
        jobs: [{name: j, receivers: 1, update: 16 B}]}";

    #[test]
    fn rates_up_are_the_peers_and_rates_down_the_switches() {
        let mesh = Arc::new(Mesh::from_yaml(NETWORK).expect("a network"));
        let wired = Arc::new(Wired::of(&mesh).expect("numbers"));
        let rates = PortRates { mesh, wired };
        assert_eq!(rates.at(0.0), [[8e6, 16e6], [24e6, 24e6], [32e6, 48e6]]);
        assert_eq!(rates.next_change(0.0), Some(10.0));
        assert_eq!(rates.at(10.0), [[8e6, 16e6], [24e6, 2e6], [32e6, 48e6]]);
    }
}
