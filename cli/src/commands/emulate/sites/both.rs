//! `inart emulate NETWORK` on a network of both levels.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use inart_emulator::sites::both::{BothReport, BothRound, BothSetting, emulate_both};
use inart_emulator::sites::{Method, PAYLOAD_SHARE, Setting, Variant, Workload};
use inart_p4::SLOTS;
use inart_planner_sites::{AuxiliaryUse, HierarchyPlan, Sharing, Tuning};
use inart_simulator_sites::ideal::{RunOptions, Timeline, Until, timeline};
use inart_topologies::sites::Hierarchy;
use inart_topologies::units::{counted, display_size};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::commands::sites::both_levels;
use crate::commands::sites::both_levels::VALUES;

/// Hosts that are silent for this long have failed. Long, since the processes of all sites share this
/// machine.
const PEER_TIMEOUT: Duration = Duration::from_secs(10);

/// A variant of planning the trees, with planned and simulated times at the network's own rates.
#[derive(Serialize)]
struct SchemeRun {
    scheme: String,
    /// Planned time of the slowest inside and of the trees, in seconds.
    planned_inside_s: f64,
    planned_between_s: f64,
    bound_s: f64,
    simulated: Timeline,
    #[serde(flatten)]
    real: BothReport,
}

/// Emulates all variants of a network that was made smaller, whose own gradient is of `own_bytes`. Returns
/// what is to be printed, and the error that ended the run early.
///
/// # Errors
/// The error of the first variant; nothing was measured then.
pub fn run(
    hierarchy: &Hierarchy,
    setting: &Setting,
    own_bytes: u64,
    json: bool,
) -> anyhow::Result<(String, Option<anyhow::Error>)> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {pos}/{len} rounds, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (mut runs, mut problem) = (Vec::new(), None);
    for variant in &setting.variants {
        bar.set_message(variant.name.clone());
        match run_variant(hierarchy, setting, variant, &bar) {
            Ok(run) => runs.push(run),
            Err(error) => {
                problem = Some(error);
                break;
            }
        }
    }
    bar.finish_and_clear();
    if runs.is_empty()
        && let Some(error) = problem
    {
        return Err(error);
    }
    if json {
        let document = serde_json::json!({
            "network": hierarchy.overlay.name(), "scale": setting.scale,
            "gradient_bytes": hierarchy.overlay.jobs()[0].gradient_bytes(), "schemes": runs,
        });
        return Ok((serde_json::to_string(&document)? + "\n", problem));
    }
    Ok((table(hierarchy, setting, own_bytes, &runs), problem))
}

fn run_variant(
    hierarchy: &Hierarchy,
    setting: &Setting,
    variant: &Variant,
    bar: &ProgressBar,
) -> anyhow::Result<SchemeRun> {
    let Method::Planned { plan: trees, flags } = &variant.method else {
        return Err(anyhow!(
            "--schemes {}: no workers are inside its sites; name schemes of trees",
            variant.name
        ));
    };
    let job = &hierarchy.overlay.jobs()[0];
    let plan = both_levels::make(hierarchy, job, trees)?;
    let simulated = simulate(hierarchy, setting, trees, &plan)?;
    let rounds = (setting.duration.as_secs_f64() / simulated.seconds).ceil().max(1.0);
    let rounds = (rounds as u32).min(setting.most_rounds);
    bar.set_length(rounds.into());
    let frames = (job.gradient_bytes() as usize).div_ceil(4 * VALUES.get());
    let both = BothSetting {
        between: setting.clone(),
        hierarchy: hierarchy.clone(),
        plans: plan.insides.iter().map(|inside| inside.plan.clone()).collect(),
        flags: flags.clone(),
        scheme: trees.scheme,
        rounds,
        values: VALUES,
        // A whole gradient in flight, as far as switches have slots.
        window_chunks: frames.next_power_of_two().clamp(64, SLOTS as usize) as u32,
        peer_timeout: PEER_TIMEOUT,
    };
    let real = emulate_both(&both, &mut |done| bar.set_position(done.into()))?;
    let inside_s = plan.insides.iter().map(|inside| inside.seconds).fold(0.0, f64::max);
    let own = |seconds: f64| setting.scale.own(seconds);
    Ok(SchemeRun {
        scheme: variant.name.clone(),
        planned_inside_s: own(inside_s),
        planned_between_s: own(plan.between.predicted_s),
        bound_s: own(plan.bound_s),
        simulated: Timeline {
            inside_s: own(simulated.inside_s),
            between_s: own(simulated.between_s),
            back_s: own(simulated.back_s),
            seconds: own(simulated.seconds),
            one_after_the_other_s: own(simulated.one_after_the_other_s),
            ..simulated
        },
        real,
    })
}

/// Simulates the rounds of the emulation in virtual time. Links between sites carry headers, too.
fn simulate(
    hierarchy: &Hierarchy,
    setting: &Setting,
    trees: &inart_planner_sites::Options,
    plan: &HierarchyPlan,
) -> anyhow::Result<Timeline> {
    let mut with_headers = hierarchy.clone();
    with_headers.overlay = hierarchy.overlay.with_rates_times(PAYLOAD_SHARE);
    let job = &with_headers.overlay.jobs()[0];
    let insides = both_levels::run_insides(hierarchy, plan, job, setting.seed)?;
    let seconds: Vec<f64> = insides.iter().map(|inside| inside.seconds).collect();
    let options = RunOptions {
        plan: trees.clone(),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: setting.knowledge,
        prior_bps: setting.prior_bps,
        tuning: Tuning::default(),
        until: Until::Seconds(setting.duration.as_secs_f64()),
    };
    let times = timeline(&with_headers, job, &options, &seconds).context("between sites")?;
    ensure!(times.rounds > 0 && times.seconds > 0.0, "--duration: too short for a round");
    Ok(times)
}

fn table(hierarchy: &Hierarchy, setting: &Setting, own_bytes: u64, runs: &[SchemeRun]) -> String {
    let workers =
        hierarchy.insides.iter().map(|inside| inside.topology.jobs()[0].workers.len()).sum::<usize>();
    let mut out = format!(
        "{}: {}, {workers} inside {} of them\n\
         {}, with a gradient of {}, {}\n\
         Times are the network's own: at its rates, with its gradient of {}; with computing, which takes \
         what it takes on this machine.\n",
        hierarchy.overlay.name(),
        counted(hierarchy.overlay.sites().len(), "site"),
        hierarchy.insides.len(),
        setting.scale,
        display_size(hierarchy.overlay.jobs()[0].gradient_bytes() as f64),
        if setting.workload == Workload::Random { "random" } else { "a model in training" },
        display_size(own_bytes as f64),
        workers = counted(workers, "worker")
    );
    for run in runs {
        let BothRound { inside_s, between_s, back_s, seconds } = run.real.mean;
        let share = |part: f64| part / seconds * 100.0;
        let simulated = &run.simulated;
        let _ = write!(
            out,
            "\n{}: a round takes {seconds:.3} s, mean of {}; simulated {:.3} s ({:.2} times), no schedule takes less \
             than {:.3} s\n\
             \x20    real          simulated  planned alone\n\
             {:>9.3} s ({:>3.0}%)  {:>9.3} s  {:>11.3} s  until every site has the sum of its workers\n\
             {:>9.3} s ({:>3.0}%)  {:>9.3} s  {:>11.3} s  \
             from then until every site has the sum of all sites\n\
             {:>9.3} s ({:>3.0}%)  {:>9.3} s                 from then until every worker has it\n\
             {} summed in switches; sites passed {} on for others and asked {} times; \
             {} lost \
             between sites\n",
            run.scheme,
            run.real.rounds.len(),
            simulated.seconds,
            seconds / simulated.seconds,
            run.bound_s,
            inside_s,
            share(inside_s),
            simulated.inside_s,
            run.planned_inside_s,
            between_s,
            share(between_s),
            simulated.between_s,
            run.planned_between_s,
            back_s,
            share(back_s),
            simulated.back_s,
            counted(run.real.summed_in_switches, "gradient"),
            counted(run.real.relayed, "chunk"),
            run.real.asks,
            counted(run.real.frames_lost, "frame"),
        );
        if let Some(accuracy) = run.real.accuracy {
            let _ = writeln!(out, "test accuracy {:.1}%", accuracy * 100.0);
        }
    }
    let checked: u64 = runs.iter().map(|run| run.real.sums_checked).sum();
    let _ = writeln!(out, "\n{checked} values of sums at workers and sites compared bit for bit, all equal");
    out
}
