//! Where the time of a round goes.

use inart_topologies::sites::{Hierarchy, SiteJob};
use serde::Serialize;

use super::insides::{InsideRound, InsideTimes, run_with_insides};
use super::run::{RunError, RunOptions, run};

/// A round between sites that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("between sites: {0}")]
pub struct BetweenSites(#[from] RunError);

/// A round, from its beginning until every worker has every sum; means over rounds, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timeline {
    /// Rounds that were run.
    pub rounds: usize,
    /// Until every site has its own sum, from its switches.
    pub inside_s: f64,
    /// From then until every site has every sum.
    pub between_s: f64,
    /// From then until every worker has it.
    pub back_s: f64,
    /// The whole.
    pub seconds: f64,
    /// The same levels one after the other, each waiting for the one before.
    pub one_after_the_other_s: f64,
    /// Sums between sites that were compared, all equal.
    pub sums: u64,
}

/// Runs rounds of both levels in virtual time: chunks of a site go on to other sites as soon as its switches
/// have summed them, and on to its workers as soon as the sites have. `inside_s`, by the order of the
/// hierarchy's insides: how long a whole gradient takes from a site's workers to the site, and back.
///
/// # Errors
/// As of [`run`](super::run()).
pub fn timeline(
    hierarchy: &Hierarchy,
    job: &SiteJob,
    options: &RunOptions,
    inside_s: &[f64],
) -> Result<Timeline, BetweenSites> {
    let times = |name: &String| {
        let at = hierarchy.insides.iter().position(|inside| inside.site == *name);
        let seconds = at.and_then(|at| inside_s.get(at)).copied().unwrap_or(0.0);
        InsideTimes { up_s: seconds, down_s: seconds }
    };
    let insides: Vec<InsideTimes> = hierarchy.overlay.sites().iter().map(times).collect();
    let both = run_with_insides(&hierarchy.overlay, job, options, &insides)?;
    let between = run(&hierarchy.overlay, job, options)?;
    let longest = insides.iter().map(|inside| inside.up_s).fold(0.0, f64::max);
    let count = both.rounds.len();
    let mean = |of: fn(&InsideRound) -> f64| both.rounds.iter().map(of).sum::<f64>() / count.max(1) as f64;
    Ok(Timeline {
        rounds: count,
        inside_s: mean(|round| round.own_s),
        between_s: mean(|round| round.sites_s - round.own_s),
        back_s: mean(|round| round.workers_s - round.sites_s),
        seconds: mean(|round| round.workers_s),
        one_after_the_other_s: longest + between.mean_s + longest,
        sums: both.sums,
    })
}
