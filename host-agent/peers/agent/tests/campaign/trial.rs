//! What a trial is: a network, a job, and what happens to them.

use inart_peers_agent::Sync;
use inart_planner_peers::Scheme;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Something that happens at a time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// A peer is killed, and may start again after that many seconds.
    Peer { peer: usize, back: Option<f64> },
    /// The coordinator that is in charge is killed.
    CoordinatorDies,
    /// Another coordinator begins, whether there is one or not.
    CoordinatorBegins,
    /// A peer's port is cut for that many seconds.
    Cut { peer: usize, seconds: f64 },
}

/// A peer, a coordinator or a program that does what it must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// Beside its own, the coordinator sends choices and rosters whose numbers are wild.
    WildChoices,
    /// The times, rates and rounds that a peer reports are wild.
    WildReports { peer: usize },
    /// Beside its own, a peer sends chunks and notices that nobody can use, and its own many times.
    Hostile { peer: usize },
    /// A peer begins with another number of rounds.
    OtherTerms { peer: usize },
    /// A peer's program does not return from that round on.
    Hangs { peer: usize, round: u32 },
}

/// One trial.
#[derive(Debug, Clone)]
pub struct Trial {
    pub seed: u64,
    pub peers: usize,
    pub receivers: usize,
    pub chunks: usize,
    pub sync: Sync,
    pub scheme: Scheme,
    pub by_switch: bool,
    pub force_after: Option<u32>,
    pub rounds: u32,
    /// Of each frame on each link.
    pub loss: f64,
    pub repeats: f64,
    pub reorders: f64,
    /// How many of the messages between peers and coordinators break the connection.
    pub breaks: f64,
    /// Each port's rates in bit/s, up and down.
    pub rates: Vec<[f64; 2]>,
    /// What others leave of each port's rates; the coordinator is not told.
    pub left: Vec<[f64; 2]>,
    pub faults: Vec<(f64, Fault)>,
    pub odd: Option<Odd>,
}

impl Trial {
    /// A network without faults.
    pub fn without_faults(seed: u64) -> Self {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        let peers = draws.random_range(3..8);
        let sync = match draws.random_bool(0.5) {
            true => Sync::Bsp,
            false => Sync::Ssp { staleness: draws.random_range(0..4) },
        };
        let schemes = match sync {
            Sync::Bsp => Scheme::ALL.to_vec(),
            Sync::Ssp { .. } => vec![Scheme::Optimized, Scheme::Selmcast, Scheme::Orpheus],
        };
        let rate = |draws: &mut ChaCha8Rng| [draws.random_range(2e6..9e6), draws.random_range(2e6..9e6)];
        Trial {
            seed,
            peers,
            receivers: draws.random_range(1..peers),
            chunks: draws.random_range(1..40),
            sync,
            scheme: schemes[draws.random_range(0..schemes.len())],
            by_switch: draws.random_bool(0.7),
            force_after: draws.random_bool(0.6).then(|| draws.random_range(1..5)),
            rounds: draws.random_range(4..12),
            loss: 0.0,
            repeats: 0.0,
            reorders: 0.0,
            breaks: 0.0,
            rates: (0..peers).map(|_| rate(&mut draws)).collect(),
            left: vec![[1.0; 2]; peers],
            faults: Vec::new(),
            odd: None,
        }
    }

    /// With an odd fault in half of the trials, drawn apart, so that seeds keep what else happens in theirs.
    pub fn with_odd(mut self) -> Self {
        let mut draws = ChaCha8Rng::seed_from_u64(self.seed ^ 0x0dd);
        let peer = draws.random_range(0..self.peers);
        self.odd = match draws.random_range(0..10) {
            0 => Some(Odd::WildChoices),
            1 => Some(Odd::WildReports { peer }),
            2 => Some(Odd::Hostile { peer }),
            3 => Some(Odd::OtherTerms { peer }),
            4 => Some(Odd::Hangs { peer, round: draws.random_range(1..4) }),
            _ => None,
        };
        if let Some(Odd::Hangs { .. }) = self.odd {
            // A peer that is gone, or taken for gone, is not waited for.
            self.faults.retain(|(_, fault)| matches!(fault, Fault::CoordinatorBegins));
        }
        self
    }

    /// Bulk synchronous rounds by switches, by our scheme.
    pub fn bsp_without_faults(seed: u64) -> Self {
        Trial { sync: Sync::Bsp, scheme: Scheme::Optimized, by_switch: true, ..Trial::without_faults(seed) }
    }

    /// Anything.
    pub fn random(seed: u64) -> Self {
        let without_faults = Trial::without_faults(seed);
        let mut draws = ChaCha8Rng::seed_from_u64(seed ^ 0x5e1c_a570);
        let part = |draws: &mut ChaCha8Rng, of: f64, most: f64| match draws.random_bool(of) {
            true => draws.random_range(0.0..most),
            false => 0.0,
        };
        let mut faults = Vec::new();
        for _ in 0..draws.random_range(0..5) {
            let at = draws.random_range(0.1..4.0);
            let peer = draws.random_range(0..without_faults.peers);
            let fault = match draws.random_range(0..6) {
                0 | 1 => {
                    let back = draws.random_bool(0.6).then(|| draws.random_range(0.05..5.0));
                    Fault::Peer { peer, back }
                }
                2 => Fault::CoordinatorDies,
                3 | 4 => Fault::CoordinatorBegins,
                _ => Fault::Cut { peer, seconds: draws.random_range(0.01..3.0) },
            };
            faults.push((at, fault));
        }
        let busy = |draws: &mut ChaCha8Rng| 1.0 - part(draws, 0.15, 0.9);
        Trial {
            left: (0..without_faults.peers).map(|_| [busy(&mut draws), busy(&mut draws)]).collect(),
            loss: part(&mut draws, 0.7, 0.2),
            repeats: part(&mut draws, 0.5, 0.1),
            reorders: part(&mut draws, 0.5, 0.2),
            breaks: part(&mut draws, 0.4, 0.05),
            faults,
            ..without_faults
        }
    }
}
