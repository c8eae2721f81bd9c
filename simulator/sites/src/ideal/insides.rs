//! Rounds of sites whose own gradients are sums from inside them, chunk by chunk.

use std::collections::BTreeMap;

use inart_planner_sites::Ended;
use inart_protocol_sites::ChunkNo;
use inart_topologies::sites::{Overlay, SiteId, SiteJob};

use super::run::{RunError, RunOptions, run_by};

/// Transfer times of a whole gradient between a site and its workers, at a constant rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InsideTimes {
    /// Time from the workers, summed on the way, in seconds.
    pub up_s: f64,
    /// Time back to the workers, in seconds.
    pub down_s: f64,
}

/// Times of a round, in seconds from its start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InsideRound {
    /// Time until every site has its own gradient.
    pub own_s: f64,
    /// Time until every site has every sum.
    pub sites_s: f64,
    /// Time until every worker has every sum.
    pub workers_s: f64,
}

/// Rounds of sites with insides.
#[derive(Debug, Clone, PartialEq)]
pub struct InsideRun {
    /// Rounds, in order.
    pub rounds: Vec<InsideRound>,
    /// Number of sums that were compared with the expected ones, all equal.
    pub sums: u64,
}

/// Runs rounds back to back, as [`run`](super::run()) does, of sites whose chunks become ready one after the
/// other within `up_s`, and whose workers receive sums within `down_s` once the site has them. `insides`: by
/// number of the site; both times of a site without an entry are 0. A round starts when all workers have the
/// sums of the previous one.
///
/// # Errors
/// Planning failures; a round that stalls or has wrong sums.
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

/// Returns for each chunk its fraction of the gradient, and the cumulative fraction.
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
    // Time at which the workers of each site have the sums that the site has so far.
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
