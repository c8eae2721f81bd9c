//! Rounds of sites whose own gradients are sums that come from inside them, chunk after chunk.

use std::collections::BTreeMap;

use inart_planner_sites::Ended;
use inart_protocol_sites::ChunkNo;
use inart_topologies::sites::{Overlay, SiteId, SiteJob};

use super::run::{RunError, RunOptions, run_by};

/// How long a whole gradient takes between a site and its workers, at a rate that stays.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InsideTimes {
    /// From the workers, summed on the way, in seconds.
    pub up_s: f64,
    /// Back to the workers, in seconds.
    pub down_s: f64,
}

/// A round, in seconds from its beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InsideRound {
    /// Until every site has its own gradient.
    pub own_s: f64,
    /// Until every site has every sum.
    pub sites_s: f64,
    /// Until every worker has every sum.
    pub workers_s: f64,
}

/// Rounds of sites with insides.
#[derive(Debug, Clone, PartialEq)]
pub struct InsideRun {
    /// The rounds, in order.
    pub rounds: Vec<InsideRound>,
    /// Sums that were compared with what they had to be, all equal.
    pub sums: u64,
}

/// Rounds back to back, as of [`run`](super::run()), of sites whose chunks become ready one after the other
/// within `up_s`, and whose workers take sums within `down_s` once the site has them. `insides`: by number of
/// the site; of a site without an entry both are 0. A round begins when all workers have the sums of the one
/// before.
///
/// # Errors
/// No plan; a round that gets stuck or whose sums are wrong.
pub fn run_with_insides(
    overlay: &Overlay,
    job: &SiteJob,
    options: &RunOptions,
    insides: &[InsideTimes],
) -> Result<InsideRun, RunError> {
    let of = |at: SiteId| insides.get(at.index()).copied().unwrap_or_default();
    let mut rounds = Vec::new();
    let run = run_by(overlay, job, options, &mut |network, policy, bytes| {
        let parts = parts(bytes);
        let ready_s = |at: SiteId, chunk: ChunkNo| of(at).up_s * parts[chunk.0 as usize].1;
        let ended = network.round_when(policy, bytes, &ready_s)?;
        let round = times(&ended, &parts, &of);
        network.wait_until(ended.started_s + round.workers_s);
        rounds.push(round);
        Some(ended)
    })?;
    Ok(InsideRun { rounds, sums: run.sums })
}

/// Of each chunk its part of the gradient, and that of all chunks up to it.
fn parts(bytes: &[u64]) -> Vec<(f64, f64)> {
    let all = bytes.iter().sum::<u64>().max(1) as f64;
    let mut sum = 0.0;
    let part = |&bytes: &u64| {
        sum += bytes as f64;
        (bytes as f64 / all, sum / all)
    };
    bytes.iter().map(part).collect()
}

fn times(ended: &Ended, parts: &[(f64, f64)], of: &dyn Fn(SiteId) -> InsideTimes) -> InsideRound {
    // When the workers of each site have what the site has so far.
    let mut workers = BTreeMap::new();
    let mut own_s: f64 = 0.0;
    for &(at, chunk, at_s) in &ended.completed {
        own_s = own_s.max(of(at).up_s);
        let free: &mut f64 = workers.entry(at.index()).or_insert(ended.started_s);
        *free = free.max(at_s) + of(at).down_s * parts[chunk.0 as usize].0;
    }
    let workers_s = workers.into_values().fold(ended.ended_s, f64::max);
    InsideRound { own_s, sites_s: ended.ended_s - ended.started_s, workers_s: workers_s - ended.started_s }
}
