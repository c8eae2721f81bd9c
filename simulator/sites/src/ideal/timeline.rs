//! Composition of the time of a round.

use inart_topologies::sites::{Hierarchy, SiteJob};
use serde::Serialize;

use super::insides::{InsideRound, InsideTimes, run_with_insides};
use super::run::{RunError, RunOptions, run};

/// Failed round between sites.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("between sites: {0}")]
pub struct BetweenSites(#[from] RunError);

/// Times of a round, from its start until every worker has every sum; means over rounds, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timeline {
    /// Number of rounds.
    pub rounds: usize,
    /// Time until every site has its own sum, from its switches.
    pub inside_s: f64,
    /// Time from then until every site has every sum.
    pub between_s: f64,
    /// Time from then until every worker has every sum.
    pub back_s: f64,
    /// Total time.
    pub seconds: f64,
    /// Time of the levels in sequence, each starting after the previous one.
    pub one_after_the_other_s: f64,
    /// Number of sums between sites that were compared, all equal.
    pub sums: u64,
}

/// Runs rounds of both levels in virtual time: a site's chunks are sent to other sites as soon as its
/// switches have summed them, and to its workers as soon as the sites have summed them. `inside_s`, in the
/// order of the hierarchy's insides: transfer time of a whole gradient from a site's workers to the site, and
/// back.
///
/// # Errors
/// As for [`run`](super::run()).
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
