//! Trials: networks, jobs and faults.

use inart_peers_agent::Sync;
use inart_planner_peers::Scheme;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fault at a time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// Crash of a peer, with a restart after `back` seconds.
    Peer { peer: usize, back: Option<f64> },
    /// Crash of the coordinator in charge.
    CoordinatorDies,
    /// Start of another coordinator, with or without one in charge.
    CoordinatorBegins,
    /// Cut of a peer's port, in seconds.
    Cut { peer: usize, seconds: f64 },
}

/// Misbehavior of a peer, a coordinator or a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// Next to its own, the coordinator sends choices and rosters with invalid numbers.
    WildChoices,
    /// A peer reports invalid times, rates and rounds.
    WildReports { peer: usize },
    /// Next to its own, a peer sends unusable chunks and notices, and repeats its own many times.
    Hostile { peer: usize },
    /// A peer starts with another number of rounds.
    OtherTerms { peer: usize },
    /// A peer's program does not return from this round on.
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
    /// Probability per frame and link.
    pub loss: f64,
    pub repeats: f64,
    pub reorders: f64,
    /// Part of the messages between peers and coordinators that break the connection.
    pub breaks: f64,
    /// Each port's rates in bit/s, up and down.
    pub rates: Vec<[f64; 2]>,
    /// Part of each port's rates that other traffic leaves; the coordinator does not know it.
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

    /// Adds misbehavior to half of the trials, from a random stream of its own, so that seeds keep their
    /// other events.
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
            // No peer waits for one that has failed, or was declared failed.
            self.faults.retain(|(_, fault)| matches!(fault, Fault::CoordinatorBegins));
        }
        self
    }

    /// Bulk synchronous rounds by switches with scheme `optimized`.
    pub fn bsp_without_faults(seed: u64) -> Self {
        Trial { sync: Sync::Bsp, scheme: Scheme::Optimized, by_switch: true, ..Trial::without_faults(seed) }
    }

    /// Random trial.
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
