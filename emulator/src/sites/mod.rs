//! Sites on one machine: a namespace per site, a link of its own rate, delay and loss per pair, rates that
//! follow their traces, and the processes of sites and their scheduler.

mod audit;
pub mod both;
mod certificates;
mod chart;
mod processes;
mod rates;
mod ready;
mod refusal;
mod report;
mod setting;
mod simulated;
mod wiring;

use std::path::Path;
use std::time::Duration;

use inart_planner_sites::Options as PlanOptions;

use crate::error::Error;
use crate::machine::scratch::Scratch;
use crate::measured::{Measured, in_turn};
use audit::Audit;
pub use audit::differs;
pub use chart::chart;
use processes::{Processes, Records, Rounds};
use refusal::system;
pub use report::{PerRound, Report, RoundTime, SchemeReport};
pub use setting::{Method, Setting, Variant, Workload};
pub use simulated::PAYLOAD_SHARE;
use wiring::WideAreaWiring;

/// Progress of an emulation.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Name of the variant.
    pub stage: &'a str,
    /// Seconds of all variants that are over.
    pub seconds_done: f64,
    /// Seconds of all variants.
    pub seconds_total: f64,
}

/// Runs all variants, one after the other.
///
/// # Errors
/// A variant that cannot run, before any runs; what the system refuses; a process of the first variant that
/// fails, or a wrong sum there.
pub fn emulate_sites(
    setting: &Setting,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Measured<Report>, Error> {
    crate::machine::permission::check()?;
    setting.check()?;
    let total = setting.duration.as_secs_f64() * setting.variants.len() as f64;
    let (schemes, problem) = in_turn(setting.variants.iter().enumerate(), |(at, variant)| {
        let before = setting.duration.as_secs_f64() * at as f64;
        let mut tell = |seconds: f64| {
            let seconds_done = before + seconds.min(setting.duration.as_secs_f64());
            progress(Progress { stage: &variant.name, seconds_done, seconds_total: total });
        };
        run_variant(setting, variant, &mut tell)
    })?;
    let report = Report {
        network: setting.overlay.name().to_owned(),
        scale: setting.scale,
        gradient_bytes: setting.overlay.jobs()[0].gradient_bytes(),
        schemes,
    };
    Ok(Measured { report, problem })
}

fn run_variant(
    setting: &Setting,
    variant: &Variant,
    tell: &mut dyn FnMut(f64),
) -> Result<SchemeReport, Error> {
    let scratch = Scratch::new().map_err(system("make a directory in memory"))?;
    certificates::write(&setting.overlay, &scratch).map_err(system("write certificates"))?;
    let write = std::fs::write(scratch.path("network.yaml"), setting.overlay.to_yaml());
    write.map_err(system("write the network"))?;
    let wiring = WideAreaWiring::build(&setting.overlay, setting.seed)?;
    let (plan, flags) = match &variant.method {
        Method::Planned { plan, flags } => (plan, flags),
        Method::Gloo { python } => return run_ring(setting, variant, python, &wiring, &scratch, tell),
    };
    let mut flags = flags.clone();
    if let Some(given) = &plan.given {
        let write = std::fs::write(scratch.path("plan.json"), given.to_json());
        write.map_err(system("write the plan"))?;
        flags.extend(["--plan".to_owned(), scratch.path("plan.json").display().to_string()]);
    }
    let rounds = simulated::rounds(setting, plan)?;
    let processes = Processes::start(setting, &flags, rounds, &wiring, &scratch, &|_| None)?;
    let mut audit = Audit::new(setting)?;
    let records = listen(setting, processes, &wiring, tell, &mut |rounds| audit.check_all(rounds))?;
    audit.check_all(&records.rounds)?;
    let (sums, lost) = (audit.sums(), wiring.lost());
    let simulated = simulated::simulate(setting, plan, rounds, records.compute_s())?;
    report::report(setting, variant, &records, sums, Some(simulated), bound(setting)?, lost)
}

/// Gloo has fewer rounds: each is long.
const RING_ROUNDS: u32 = 3;

fn run_ring(
    setting: &Setting,
    variant: &Variant,
    python: &Path,
    wiring: &WideAreaWiring,
    scratch: &Scratch,
    tell: &mut dyn FnMut(f64),
) -> Result<SchemeReport, Error> {
    let rounds = RING_ROUNDS.min(setting.most_rounds);
    let processes = Processes::start_ring(setting, python, rounds, wiring, scratch)?;
    let records = listen(setting, processes, wiring, tell, &mut |_| Ok(()))?;
    // Each process has compared its sums with those of the gradients, within a tolerance.
    audit::check_equal(&records.rounds)?;
    let sums = records.rounds.values().map(|sites| sites.len() as u64).sum::<u64>();
    let values = setting.overlay.jobs()[0].gradient_bytes() / 4;
    report::report(setting, variant, &records, sums * values, None, bound(setting)?, wiring.lost())
}

/// Hears processes until all are over, while rates follow their traces from the first round on.
fn listen(
    setting: &Setting,
    mut processes: Processes,
    wiring: &WideAreaWiring,
    tell: &mut dyn FnMut(f64),
    check: &mut dyn FnMut(&Rounds) -> Result<(), Error>,
) -> Result<Records, Error> {
    let began = processes.wait_for_first_round(Duration::from_secs(120))?;
    let _follower = wiring.follow(began)?;
    processes.listen_to_the_end(setting.duration + Duration::from_secs(600), &mut |rounds| {
        tell(began.elapsed().as_secs_f64());
        check(rounds)
    })?;
    processes.end()
}

/// The proven bound on the rates at the start, in seconds.
fn bound(setting: &Setting) -> Result<f64, Error> {
    let (overlay, job) = (&setting.overlay, &setting.overlay.jobs()[0]);
    let plan = inart_planner_sites::plan(
        overlay,
        job,
        &overlay.rates_at(0.0),
        &PlanOptions::new(inart_planner_sites::Scheme::Mst),
    );
    let problem = |error: inart_planner_sites::PlanError| Error::Option {
        option: "topology",
        problem: error.to_string(),
    };
    Ok(plan.map_err(problem)?.bounds.seconds)
}
