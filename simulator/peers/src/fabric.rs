//! The ports, and the nonblocking switches between them.

use inart_topologies::peers::{Mesh, PeerJob};
use inart_virtual::SplitMix64;

use crate::port::{Port, ns};

/// Longest queue at a port to a peer, where switches copy frames; later frames are lost.
const QUEUE_NS: u64 = 200_000_000;

/// All ports of a job.
pub(crate) struct Fabric {
    up: Vec<Port>,
    down: Vec<Port>,
    /// Delay of each peer's link.
    delays_ns: Vec<u64>,
    /// Part of the traffic that passes each peer's link.
    passes: Vec<f64>,
    /// Switch of each peer.
    switches: Vec<usize>,
    /// Delay, and the part that passes, between two switches.
    between: Vec<Vec<(u64, f64)>>,
    draws: SplitMix64,
    /// Time that a chunk of every sender takes at each port to a peer. A queue has room for it next to
    /// `QUEUE_NS`: chunks are longer than frames.
    room_ns: u64,
    pub lost: u64,
    pub overflowed: u64,
}

/// Returns the delay and the part that passes for each pair of switches, which are linked as a tree.
fn between(mesh: &Mesh) -> Vec<Vec<(u64, f64)>> {
    let count = mesh.switches().len();
    let from = |start: usize| {
        let mut found: Vec<Option<(u64, f64)>> = vec![None; count];
        found[start] = Some((0, 1.0));
        let mut left = vec![start];
        while let Some(at) = left.pop() {
            let (delay_ns, passes) = found[at].unwrap_or_default();
            for trunk in mesh.trunks().iter().filter(|trunk| trunk.ends.contains(&at)) {
                let next = trunk.ends[usize::from(trunk.ends[0] == at)];
                if found[next].is_none() {
                    let delay_ns = delay_ns.saturating_add(ns(trunk.delay_seconds));
                    found[next] = Some((delay_ns, passes * (1.0 - trunk.loss)));
                    left.push(next);
                }
            }
        }
        found.into_iter().map(Option::unwrap_or_default).collect()
    };
    (0..count).map(from).collect()
}

impl Fabric {
    pub fn new(mesh: &Mesh, job: &PeerJob, chunk_bits: f64, draws: SplitMix64) -> Self {
        let peers = || job.peers.iter().map(|&peer| mesh.peer(peer));
        let down: Vec<Port> = peers().map(|peer| Port::new(peer.down_bps, peer.down_trace.clone())).collect();
        let least_bps = down.iter().map(Port::least_bps).fold(f64::INFINITY, f64::min);
        Fabric {
            up: peers().map(|peer| Port::new(peer.up_bps, peer.up_trace.clone())).collect(),
            room_ns: ns(chunk_bits * down.len() as f64 / least_bps),
            down,
            delays_ns: peers().map(|peer| ns(peer.delay_seconds)).collect(),
            passes: peers().map(|peer| 1.0 - peer.loss).collect(),
            switches: peers().map(|peer| peer.switch).collect(),
            between: between(mesh),
            draws,
            lost: 0,
            overflowed: 0,
        }
    }

    /// Returns the least rate of any port at any time, in bit/s.
    pub fn least_bps(&self) -> f64 {
        self.up.iter().chain(&self.down).map(Port::least_bps).fold(f64::INFINITY, f64::min)
    }

    fn passes(&mut self, part: f64) -> bool {
        // Links without losses draw no random numbers.
        let passes = part >= 1.0 || self.draws.fraction() < part;
        self.lost += u64::from(!passes);
        passes
    }

    /// Returns the delay between two peers.
    pub fn delay_ns(&self, from: usize, to: usize) -> u64 {
        let (between_ns, _) = self.between[self.switches[from]][self.switches[to]];
        self.delays_ns[from].saturating_add(between_ns).saturating_add(self.delays_ns[to])
    }

    /// Sends a chunk from a peer. Returns when it is at the switch, and whether it passes.
    pub fn chunk_up(&mut self, from: usize, now_ns: u64, bits: f64) -> (u64, bool) {
        let sent_ns = self.up[from].chunk(now_ns, bits);
        (sent_ns.saturating_add(self.delays_ns[from]), self.passes(self.passes[from]))
    }

    /// Sends a chunk from its sender's switch. Returns when it is at its receiver, and whether it passes.
    /// `is_dropped`: whether a full queue drops it.
    pub fn chunk_down(
        &mut self,
        [from, to]: [usize; 2],
        now_ns: u64,
        bits: f64,
        is_dropped: bool,
    ) -> (u64, bool) {
        let (between_ns, part) = self.between[self.switches[from]][self.switches[to]];
        let now_ns = now_ns.saturating_add(between_ns);
        if is_dropped && self.down[to].queue_ns(now_ns) > QUEUE_NS.saturating_add(self.room_ns) {
            self.overflowed += 1;
            return (now_ns, false);
        }
        let sent_ns = self.down[to].chunk(now_ns, bits);
        (sent_ns.saturating_add(self.delays_ns[to]), self.passes(part * self.passes[to]))
    }

    /// Sends a message from a peer once, for one or several receivers. Returns when it is at the switch, and
    /// whether it passes.
    pub fn message_up(&mut self, from: usize, now_ns: u64, bits: f64) -> (u64, bool) {
        let sent_ns = self.up[from].message(now_ns, bits);
        (sent_ns.saturating_add(self.delays_ns[from]), self.passes(self.passes[from]))
    }

    /// Sends a message from its sender's switch. Returns when it is at its receiver, and whether it passes.
    pub fn message_down(&mut self, [from, to]: [usize; 2], now_ns: u64, bits: f64) -> (u64, bool) {
        let (between_ns, part) = self.between[self.switches[from]][self.switches[to]];
        let sent_ns = self.down[to].message(now_ns.saturating_add(between_ns), bits);
        (sent_ns.saturating_add(self.delays_ns[to]), self.passes(part * self.passes[to]))
    }
}
