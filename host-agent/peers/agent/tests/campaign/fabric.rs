//! A switch with a port per peer: frames queue for each link, and are lost, duplicated or reordered.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::trial::Trial;

/// Delay of one direction through the switch, in nanoseconds.
const DELAY_NS: u64 = 100_000;
/// Queue of a port to a peer; frames beyond it are lost.
const QUEUE_NS: u64 = 60_000_000;

/// The links.
pub struct Fabric {
    rates: Vec<[f64; 2]>,
    /// When each is idle again: up, down.
    busy: Vec<[u64; 2]>,
    /// When each port's cut ends.
    pub cut: Vec<u64>,
    loss: f64,
    repeats: f64,
    reorders: f64,
    pub lost: u64,
    pub overflowed: u64,
}

impl Fabric {
    pub fn new(trial: &Trial) -> Self {
        let n = trial.peers;
        Fabric {
            rates: trial
                .rates
                .iter()
                .zip(&trial.left)
                .map(|(rates, left)| [0, 1].map(|way| rates[way] * left[way]))
                .collect(),
            busy: vec![[0; 2]; n],
            cut: vec![0; n],
            loss: trial.loss,
            repeats: trial.repeats,
            reorders: trial.reorders,
            lost: 0,
            overflowed: 0,
        }
    }

    fn takes(&self, peer: usize, way: usize, bytes: usize) -> u64 {
        (8e9 * bytes as f64 / self.rates[peer][way]) as u64
    }

    /// Sends a frame once to several receivers. Returns when it arrives at each.
    pub fn send(
        &mut self,
        from: usize,
        to: impl Iterator<Item = usize>,
        bytes: usize,
        now: u64,
        draws: &mut ChaCha8Rng,
    ) -> Vec<(usize, u64)> {
        let up = self.busy[from][0].max(now) + self.takes(from, 0, bytes);
        self.busy[from][0] = up;
        let mut arrivals = Vec::new();
        if self.cut[from] > now || draws.random_bool(self.loss) {
            self.lost += 1;
            return arrivals;
        }
        for peer in to {
            let at = up + DELAY_NS;
            if self.busy[peer][1] > at + QUEUE_NS {
                self.overflowed += 1;
                continue;
            }
            let down = self.busy[peer][1].max(at) + self.takes(peer, 1, bytes);
            self.busy[peer][1] = down;
            if self.cut[peer] > at || draws.random_bool(self.loss) {
                self.lost += 1;
                continue;
            }
            for _ in 0..1 + u32::from(draws.random_bool(self.repeats)) {
                let late = match draws.random_bool(self.reorders) {
                    true => draws.random_range(0..20_000_000),
                    false => 0,
                };
                arrivals.push((peer, down + late));
            }
        }
        arrivals
    }

    /// Returns when a chunk on a connection arrives; later if a part was retransmitted.
    pub fn carry(
        &mut self,
        from: usize,
        to: usize,
        bytes: usize,
        now: u64,
        draws: &mut ChaCha8Rng,
    ) -> Option<u64> {
        if self.cut[from] > now || self.cut[to] > now {
            return None;
        }
        let up = self.busy[from][0].max(now) + self.takes(from, 0, bytes);
        self.busy[from][0] = up;
        let down = self.busy[to][1].max(up + DELAY_NS) + self.takes(to, 1, bytes);
        self.busy[to][1] = down;
        Some(down + if draws.random_bool(self.loss) { 30_000_000 } else { 0 })
    }
}
