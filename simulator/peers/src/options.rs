//! Options of a run.

use std::sync::Arc;

use inart_peers_agent::Sync;
use inart_planner_peers::{Multicast, Pairs, Reading, Scheme};

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// After this many rounds of every peer; at least 1.
    Rounds(u32),
    /// After this time, in seconds.
    Seconds(f64),
}

/// Options of a job's run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Scheme of choosing receivers.
    pub scheme: Scheme,
    /// With the scheme `own`: user-defined receivers, by rank.
    pub given: Option<Arc<Pairs>>,
    /// Reading of Algorithm 2.
    pub reading: Reading,
    /// Maker of the copies.
    pub multicast: Multicast,
    /// Rule by which peers start their next round.
    pub sync: Sync,
    /// Fairness bound k.
    pub force_after: Option<u32>,
    /// End of the run.
    pub until: Until,
    /// Chunks of an update, at least 1; each stands for an equal part of it. More chunks are closer to
    /// frames, and take longer to simulate.
    pub chunks: u32,
    /// Seed of all draws.
    pub seed: u64,
}
