//! Rounds of a training in virtual time, with plans remade from the knowledge of the network.

use std::sync::Arc;

use inart_planner_sites::{
    Ended, Network, Options, PlanError, Table, Tuning, chunk_sizes, kept_plan_and_policy, plan_and_policy,
    sending,
};
use inart_protocol_sites::{AuxiliaryUse, Counters, TransmissionPolicy};
use inart_topologies::sites::{Overlay, Rates, SiteJob};
use inart_virtual::Sharing;
use serde::Serialize;

/// Knowledge of the scheduler when it remakes the plan before a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Current rates.
    Oracle,
    /// Rates at the start: the plan stays.
    Static,
    /// No rates: all links count as equal, and the plan stays.
    Uniform,
    /// Transfer times of chunks so far.
    Passive,
}

/// Length of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// Number of rounds.
    Rounds(u32),
    /// Rounds that start within this time, in seconds.
    Seconds(f64),
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Options of the planner.
    pub plan: Options,
    /// Use of auxiliary paths, where the plan has them.
    pub auxiliary: AuxiliaryUse,
    /// Sharing of links between streams; `star` and `bkt` are always fair, `inart` is always first in, first
    /// out.
    pub sharing: Sharing,
    /// Knowledge of the scheduler.
    pub knowledge: Knowledge,
    /// Assumed rate of an unmeasured link, in bit/s.
    pub prior_bps: f64,
    /// Measurement of links, and times of replanning.
    pub tuning: Tuning,
    /// Length of the run.
    pub until: Until,
}

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Round {
    /// Start of the round, in seconds.
    pub start_s: f64,
    /// Duration of the round, in seconds.
    pub seconds: f64,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Rounds, in order.
    pub rounds: Vec<Round>,
    /// Mean duration of a round, in seconds.
    pub mean_s: f64,
    /// Mean of |believed − true| / true over directed links and starts of rounds.
    pub table_error: f64,
    /// Number of sums that were compared with the expected ones, all equal.
    pub sums: u64,
    /// Number of chunks that sites forwarded for others.
    pub relayed: u64,
}

/// Error of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Planning failure.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Round that cannot end.
    #[error("round {round} cannot end: no chunk is in flight, and sites wait; this is a defect")]
    Stuck {
        /// Number of the round.
        round: usize,
    },
    /// Sums that differ from those of the gradients.
    #[error("round {round}: {sums} sums differ from those of the gradients; this is a defect")]
    Sums {
        /// Number of the round.
        round: usize,
        /// Number of wrong sums.
        sums: u64,
    },
}

/// Function that plays a round by a policy, with chunks of these sizes; `None` if the round stalls.
pub(crate) type Play<'p> =
    dyn FnMut(&mut Network<'_>, &Arc<TransmissionPolicy>, &[u64]) -> Option<Ended> + 'p;

/// Runs rounds back to back.
///
/// # Errors
/// Planning failures; a round that stalls or has wrong sums.
pub fn run(overlay: &Overlay, job: &SiteJob, options: &RunOptions) -> Result<Run, RunError> {
    run_by(overlay, job, options, &mut |network, policy, bytes| network.round(policy, bytes))
}

/// Runs rounds that `play` plays.
pub(crate) fn run_by(
    overlay: &Overlay,
    job: &SiteJob,
    options: &RunOptions,
    play: &mut Play<'_>,
) -> Result<Run, RunError> {
    let scheme = options.plan.scheme;
    let sending = sending(scheme, options.plan.has_auxiliary().then_some(options.auxiliary));
    let mut network = Network::new(overlay, None, scheme.sharing(options.sharing), sending);
    let mut table = Table::new(overlay, scheme, options.prior_bps, &options.tuning);
    let (mut all, mut errors, mut sums) = (Vec::new(), Vec::new(), 0);
    let mut in_force: Option<(f64, Arc<TransmissionPolicy>, Vec<u64>)> = None;
    // Equal rates give an equal plan.
    let mut planned_for: Option<Rates> = None;
    while is_active(options.until, all.len(), network.now_s()) {
        let now_s = network.now_s();
        let truth = overlay.rates_at(now_s);
        let believed = match options.knowledge {
            Knowledge::Oracle => truth.clone(),
            Knowledge::Static => overlay.rates_at(0.0),
            Knowledge::Uniform => Rates(vec![options.prior_bps; truth.0.len()]),
            Knowledge::Passive => table.rates(),
        };
        errors.push(error(&believed, &truth));
        let stays = matches!(options.knowledge, Knowledge::Static | Knowledge::Uniform);
        let is_kept = options.knowledge != Knowledge::Passive;
        let (made_s, policy, bytes) = match in_force.take() {
            Some(same) if stays || !options.tuning.is_due(same.0, now_s) => same,
            Some((_, policy, bytes)) if planned_for.as_ref() == Some(&believed) => (now_s, policy, bytes),
            _ => {
                let make = if is_kept { kept_plan_and_policy } else { plan_and_policy };
                let (plan, mut policy) = make(overlay, job, &believed, &options.plan)?;
                let bytes = chunk_sizes(job, &plan);
                planned_for = Some(believed);
                policy.version = all.len() as u64 + 1;
                (now_s, Arc::new(policy), bytes)
            }
        };
        let ended = play(&mut network, &policy, &bytes).ok_or(RunError::Stuck { round: all.len() })?;
        if ended.other_sums > 0 {
            return Err(RunError::Sums { round: all.len(), sums: ended.other_sums });
        }
        sums += ended.equal_sums;
        table.learn(&ended.samples);
        all.push(Round { start_s: ended.started_s, seconds: ended.ended_s - ended.started_s });
        in_force = Some((made_s, policy, bytes));
    }
    let count = (all.len() as f64).max(1.0);
    Ok(Run {
        scheme: scheme.name(),
        mean_s: all.iter().map(|round| round.seconds).sum::<f64>() / count,
        table_error: errors.iter().sum::<f64>() / count,
        rounds: all,
        sums,
        relayed: network.counters().iter().map(|Counters { relayed, .. }| relayed).sum(),
    })
}

fn is_active(until: Until, rounds: usize, now_s: f64) -> bool {
    match until {
        Until::Rounds(most) => rounds < most as usize,
        Until::Seconds(end_s) => now_s <= end_s,
    }
}

/// Returns the mean relative error over directed links.
fn error(believed: &Rates, truth: &Rates) -> f64 {
    let errors = believed.0.iter().zip(&truth.0).map(|(b, t)| (b - t).abs() / t);
    errors.sum::<f64>() / truth.0.len() as f64
}
