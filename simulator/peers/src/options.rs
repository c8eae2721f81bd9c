//! What is run.

use std::sync::Arc;

use inart_peers_agent::Sync;
use inart_planner_peers::{Multicast, Pairs, Reading, Scheme};

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// After so many rounds of every peer; at least 1.
    Rounds(u32),
    /// After so long, in seconds.
    Seconds(f64),
}

/// How a job is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How receivers are chosen.
    pub scheme: Scheme,
    /// With the scheme `own`: the receivers that a user has chosen, by rank.
    pub given: Option<Arc<Pairs>>,
    /// How Algorithm 2 is read.
    pub reading: Reading,
    /// Who makes the copies.
    pub multicast: Multicast,
    /// When peers go on.
    pub sync: Sync,
    /// The rule of k.
    pub force_after: Option<u32>,
    /// When it ends.
    pub until: Until,
    /// Chunks of an update, at least 1: each stands for as many bytes of it. More of them are nearer to
    /// frames, and take longer to compute.
    pub chunks: u32,
    /// Of every draw.
    pub seed: u64,
}
