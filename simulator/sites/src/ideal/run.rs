//! A training's rounds in virtual time, with plans remade by what is known of the network.

use std::sync::Arc;

use inart_planner_sites::{
    Ended, Network, Options, PlanError, Table, Tuning, chunk_sizes, kept_plan_and_policy, plan_and_policy,
    sending,
};
use inart_protocol_sites::{AuxiliaryUse, Counters, TransmissionPolicy};
use inart_topologies::sites::{Overlay, Rates, SiteJob};
use inart_virtual::Sharing;
use serde::Serialize;

/// What the scheduler knows when it remakes the plan before a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// The rates that hold then.
    Oracle,
    /// Those at the start: the plan stays.
    Static,
    /// Nothing: all links count as equal, and the plan stays.
    Uniform,
    /// What chunks took on their links so far.
    Passive,
}

/// How long to go on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// So many rounds.
    Rounds(u32),
    /// Rounds that begin within so many seconds.
    Seconds(f64),
}

/// How to run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// How to plan.
    pub plan: Options,
    /// How auxiliary paths are used, where the plan has them.
    pub auxiliary: AuxiliaryUse,
    /// How streams share a link; `star` and `bkt` are always fair, `inart` is always first in, first out.
    pub sharing: Sharing,
    /// What is known.
    pub knowledge: Knowledge,
    /// What an unmeasured link counts as, in bit/s.
    pub prior_bps: f64,
    /// How links are measured, and when plans are remade.
    pub tuning: Tuning,
    /// How long.
    pub until: Until,
}

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Round {
    /// When it began, in seconds.
    pub start_s: f64,
    /// How long it took.
    pub seconds: f64,
}

/// A run's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// The scheme's name.
    pub scheme: &'static str,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// Their mean time, in seconds.
    pub mean_s: f64,
    /// Mean of |believed − true| / true over directed links and beginnings of rounds.
    pub table_error: f64,
    /// Sums that were compared with what they had to be, all equal.
    pub sums: u64,
    /// Chunks that sites passed on for others.
    pub relayed: u64,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A round that cannot end.
    #[error("round {round} cannot end: no chunk is in flight, and sites wait; this is a defect")]
    Stuck {
        /// Which.
        round: usize,
    },
    /// Sums that are not those of the gradients.
    #[error("round {round}: {sums} sums differ from those of the gradients; this is a defect")]
    Sums {
        /// Which.
        round: usize,
        /// How many.
        sums: u64,
    },
}

/// Plays a round by a policy, with chunks of these sizes; `None` if it gets stuck.
pub(crate) type Play<'p> =
    dyn FnMut(&mut Network<'_>, &Arc<TransmissionPolicy>, &[u64]) -> Option<Ended> + 'p;

/// Rounds back to back.
///
/// # Errors
/// No plan; a round that gets stuck or whose sums are wrong.
pub fn run(overlay: &Overlay, job: &SiteJob, options: &RunOptions) -> Result<Run, RunError> {
    run_by(overlay, job, options, &mut |network, policy, bytes| network.round(policy, bytes))
}

/// The same, with rounds that `play` plays.
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
    // On the same rates the plan is the same.
    let mut planned_for: Option<Rates> = None;
    while goes_on(options.until, all.len(), network.now_s()) {
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

fn goes_on(until: Until, rounds: usize, now_s: f64) -> bool {
    match until {
        Until::Rounds(most) => rounds < most as usize,
        Until::Seconds(end_s) => now_s <= end_s,
    }
}

/// Mean relative error over directed links.
fn error(believed: &Rates, truth: &Rates) -> f64 {
    let errors = believed.0.iter().zip(&truth.0).map(|(b, t)| (b - t).abs() / t);
    errors.sum::<f64>() / truth.0.len() as f64
}
