//! Rates of ports: up at the peer's end of its link, down at the switch's.

use std::sync::Arc;

use inart_peers::Mesh;

use crate::shaping::{Rates, bucket};

/// What waits for longer at a port is dropped, in seconds. Many updates meet at a port, each on a connection
/// of its own that has at least two frames under way.
const QUEUE_SECONDS: f64 = 0.2;

/// A peer's interface.
pub const UP: &str = "port";

/// The switch's interface to a peer; the first is `p1`.
pub fn down(rank: usize) -> String {
    format!("p{}", rank + 1)
}

/// The ports of a network's only job. Namespaces are those of its peers, by rank, and behind them the
/// switch's.
pub struct OfPorts(pub Arc<Mesh>);

impl OfPorts {
    fn job(&self) -> &inart_peers::PeerJob {
        &self.0.jobs()[0]
    }

    /// What `tc` is told in a namespace to add or change rates.
    pub fn script_of(&self, verb: &str, namespace: usize, now_s: f64) -> String {
        let (start, now) = (self.0.ports_at(self.job(), 0.0), self.0.ports_at(self.job(), now_s));
        let peers = self.job().peers.len();
        match start.up_bps.get(namespace) {
            Some(&start_bps) => bucket(verb, UP, start_bps, now.up_bps[namespace], QUEUE_SECONDS),
            None => {
                let line = |rank: usize| {
                    bucket(verb, &down(rank), start.down_bps[rank], now.down_bps[rank], QUEUE_SECONDS)
                };
                (0..peers).map(line).collect()
            }
        }
    }
}

impl Rates for OfPorts {
    fn next_change(&self, after_s: f64) -> Option<f64> {
        self.0.next_change(self.job(), after_s)
    }

    fn script(&self, namespace: usize, now_s: f64) -> String {
        self.script_of("change", namespace, now_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: &str = "{name: m, nodes: [{name: s, kind: switch}, {name: a, kind: peer}, \
        {name: b, kind: peer}], links: [{ends: [a, s], rate: [8 Mbps, 16 Mbps]}, \
        {ends: [b, s], rate: 24 Mbps}], \
        traces: [{link: [s, b], every: 10 s, rates: [24 Mbps, 2 Mbps]}], \
        jobs: [{name: j, receivers: 1, update: 16 B}]}";

    #[test]
    fn rates_up_are_the_peers_and_rates_down_the_switchs() {
        let rates = OfPorts(Arc::new(Mesh::from_yaml(NETWORK).expect("a network")));
        let of = |script: String| -> Vec<String> {
            let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
            script.lines().map(words).map(|words| format!("{} {} {}", words[1], words[3], words[9])).collect()
        };
        assert_eq!(of(rates.script_of("add", 0, 0.0)), ["add port 8000000bit"]);
        assert_eq!(of(rates.script_of("add", 2, 0.0)), ["add p1 16000000bit", "add p2 24000000bit"]);
        assert_eq!(rates.next_change(0.0), Some(10.0));
        assert_eq!(of(rates.script(1, 10.0)), ["change port 24000000bit"]);
        assert_eq!(of(rates.script(2, 10.0)), ["change p1 16000000bit", "change p2 2000000bit"]);
    }
}
