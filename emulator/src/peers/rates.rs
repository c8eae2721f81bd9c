//! Rates of ports: up at the peer's end of its link, down at the switch's; of links between switches, which
//! do not change.

use std::sync::Arc;

use inart_peers::{Mesh, PeerJob};

use super::wired::{Behind, Wired, interface};
use crate::shaping::{Rates, bucket};

/// What waits for longer at a port is dropped, in seconds. Many updates meet at a port, each on a connection
/// of its own that has at least two frames under way.
const QUEUE_SECONDS: f64 = 0.2;

/// A peer's interface.
pub const UP: &str = "port";

/// The ports of a network's only job. Namespaces are those of its peers, by rank, and behind them the
/// switches'.
#[derive(Debug, Clone)]
pub struct OfPorts {
    pub mesh: Arc<Mesh>,
    pub wired: Arc<Wired>,
}

impl OfPorts {
    fn job(&self) -> &PeerJob {
        &self.mesh.jobs()[0]
    }

    /// What `tc` is told in a namespace to add or change rates.
    pub fn script_of(&self, verb: &str, namespace: usize, now_s: f64) -> String {
        let (start, now) = (self.mesh.ports_at(self.job(), 0.0), self.mesh.ports_at(self.job(), now_s));
        let peers = self.job().peers.len();
        if let Some(&start_bps) = start.up_bps.get(namespace) {
            return bucket(verb, UP, start_bps, now.up_bps[namespace], QUEUE_SECONDS);
        }
        let ports = self.wired.switches.get(namespace - peers).map_or(&[][..], |switch| &switch.ports);
        let line = |(place, port): (usize, &super::wired::WiredPort)| {
            let (start_bps, now_bps) = match port.behind {
                Behind::Peer(rank) => (start.down_bps[rank], now.down_bps[rank]),
                Behind::Switch { bps } => (bps, bps),
            };
            bucket(verb, &interface(place), start_bps, now_bps, QUEUE_SECONDS)
        };
        ports.iter().enumerate().map(line).collect()
    }
}

impl Rates for OfPorts {
    fn next_change(&self, after_s: f64) -> Option<f64> {
        self.mesh.next_change(self.job(), after_s)
    }

    fn script(&self, namespace: usize, now_s: f64) -> String {
        self.script_of("change", namespace, now_s)
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
        let rates = OfPorts { mesh, wired };
        let of = |script: String| -> Vec<String> {
            let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
            script.lines().map(words).map(|words| format!("{} {} {}", words[1], words[3], words[9])).collect()
        };
        assert_eq!(of(rates.script_of("add", 0, 0.0)), ["add port 8000000bit"]);
        assert_eq!(of(rates.script_of("add", 2, 0.0)), ["add p1 16000000bit", "add p2 32000000bit"]);
        assert_eq!(of(rates.script_of("add", 3, 0.0)), ["add p1 24000000bit", "add p2 48000000bit"]);
        assert_eq!(rates.next_change(0.0), Some(10.0));
        assert_eq!(of(rates.script(1, 10.0)), ["change port 24000000bit"]);
        assert_eq!(of(rates.script(2, 10.0)), ["change p1 16000000bit", "change p2 32000000bit"]);
        assert_eq!(of(rates.script(3, 10.0)), ["change p1 2000000bit", "change p2 48000000bit"]);
    }
}
