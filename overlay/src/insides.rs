//! Rounds of sites whose own gradients are sums that come from inside them, chunk after chunk.

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_sites::ChunkNo;

use crate::awareness::Table;
use crate::network::{Overlay, Rates, SiteId, SiteJob};
use crate::plan::chunk_sizes;
use crate::planning;
use crate::rounds::{self, Ended, Network};
use crate::run::{Knowledge, RunError, RunOptions, goes_on};

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

/// Rounds back to back, as of [`crate::run()`], of sites whose chunks become ready one after the other within
/// `up_s`, and whose workers take sums within `down_s` once the site has them. `insides`: by number of the
/// site; of a site without an entry both are 0. A round begins when all workers have the sums of the one
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
    let scheme = options.plan.scheme;
    let sending = rounds::sending(scheme, options.plan.auxiliary.map(|_| options.auxiliary));
    let mut network = Network::new(overlay, None, rounds::sharing(scheme, options.sharing), sending);
    let mut table = Table::new(overlay, scheme, options.prior_bps);
    let (mut all, mut sums) = (Vec::new(), 0);
    while goes_on(options.until, all.len(), network.now_s()) {
        let believed = match options.knowledge {
            Knowledge::Oracle => overlay.rates_at(network.now_s()),
            Knowledge::Static => overlay.rates_at(0.0),
            Knowledge::Uniform => Rates(vec![options.prior_bps; overlay.arcs().count()]),
            Knowledge::Passive => table.rates(),
        };
        let made = planning::make(overlay, job, &believed, &options.plan)?;
        let bytes = chunk_sizes(job, &made.plan);
        let mut policy = made.policy;
        policy.version = all.len() as u64 + 1;
        let parts = parts(&bytes);
        let of = |at: SiteId| insides.get(at.index()).copied().unwrap_or_default();
        let ready_s = |at: SiteId, chunk: ChunkNo| of(at).up_s * parts[chunk.0 as usize].1;
        let ended = network.round_when(&Arc::new(policy), &bytes, &ready_s);
        let ended = ended.ok_or(RunError::Stuck { round: all.len() })?;
        if ended.other_sums > 0 {
            return Err(RunError::Sums { round: all.len(), sums: ended.other_sums });
        }
        sums += ended.equal_sums;
        table.learn(&ended.samples);
        let round = times(&ended, &parts, &of);
        network.wait_until(ended.started_s + round.workers_s);
        all.push(round);
    }
    Ok(InsideRun { rounds: all, sums })
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
