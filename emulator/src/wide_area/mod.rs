//! Data centres on one machine: a namespace per site, a link of its own rate, delay and loss per pair, rates
//! that follow their traces, and the processes of sites and their scheduler in it.

mod audit;
mod certificates;
mod chart;
mod processes;
mod rates;
mod refusal;
mod report;
mod setting;
mod wiring;

use std::time::{Duration, Instant};

use inart_overlay::{AuxiliaryUse, Options as PlanOptions, RunOptions, Sharing, Until};

use crate::error::Error;
use crate::scratch::Scratch;
use audit::Audit;
pub use audit::{digest, random_gradient};
pub use chart::chart;
use processes::Processes;
use rates::RateFollower;
use refusal::system;
pub use report::{Report, RoundTime, SchemeReport};
pub use setting::{Setting, Variant, Workload};
use wiring::WideAreaWiring;

/// Where an emulation is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Which variant.
    pub stage: &'a str,
    /// Seconds of all variants that are over.
    pub seconds_done: f64,
    /// Seconds of all variants.
    pub seconds_total: f64,
}

/// Runs all variants, one after the other.
///
/// # Errors
/// What the system refuses; a process that fails; a sum that is not what it has to be.
pub fn emulate_sites(setting: &Setting, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Report, Error> {
    let mut schemes = Vec::new();
    let total = setting.duration.as_secs_f64() * setting.variants.len() as f64;
    for (at, variant) in setting.variants.iter().enumerate() {
        let before = setting.duration.as_secs_f64() * at as f64;
        let mut tell = |seconds: f64| {
            let seconds_done = before + seconds.min(setting.duration.as_secs_f64());
            progress(Progress { stage: &variant.name, seconds_done, seconds_total: total });
        };
        schemes.push(run_variant(setting, variant, &mut tell)?);
    }
    Ok(Report { network: setting.overlay.name().to_owned(), schemes })
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
    let mut simulated = simulate(setting, variant)?;
    simulated.truncate(setting.most_rounds as usize);
    let rounds = simulated.len() as u32;
    let mut processes = Processes::start(setting, variant, rounds, &wiring, &scratch)?;
    let began = processes.wait_for_first_round(Duration::from_secs(60))?;
    let follower = RateFollower::start(setting.overlay.clone(), wiring.handles()?, began)
        .map_err(system("follow the traces"))?;
    let mut audit = Audit::new(setting, variant.plan.scheme)?;
    let deadline = Instant::now() + setting.duration + Duration::from_secs(600);
    while !processes.are_over() && Instant::now() < deadline {
        processes.listen(Duration::from_millis(200))?;
        tell(began.elapsed().as_secs_f64());
        audit.check_all(processes.rounds())?;
    }
    let ended = processes.end()?;
    audit.check_all(&ended.rounds)?;
    let lost = wiring.lost();
    drop(follower);
    let bound = bound(setting)?;
    report::report(setting, variant, &ended, audit.sums(), simulated, bound, lost)
}

/// The same rounds in virtual time.
fn simulate(setting: &Setting, variant: &Variant) -> Result<Vec<f64>, Error> {
    let options = RunOptions {
        plan: variant.plan.clone(),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: setting.knowledge,
        prior_bps: setting.prior_bps,
        until: Until::Seconds(setting.duration.as_secs_f64()),
    };
    let run = inart_overlay::run(&setting.overlay, &setting.overlay.jobs()[0], &options);
    let problem =
        |error: inart_overlay::RunError| Error::Option { option: "schemes", problem: error.to_string() };
    Ok(run.map_err(problem)?.rounds.iter().map(|round| round.seconds).collect())
}

/// The proven bound on the rates at the start, in seconds.
fn bound(setting: &Setting) -> Result<f64, Error> {
    let (overlay, job) = (&setting.overlay, &setting.overlay.jobs()[0]);
    let plan = inart_overlay::plan(
        overlay,
        job,
        &overlay.rates_at(0.0),
        &PlanOptions::new(inart_overlay::Scheme::Mst),
    );
    let problem =
        |error: inart_overlay::PlanError| Error::Option { option: "topology", problem: error.to_string() };
    Ok(plan.map_err(problem)?.bounds.seconds)
}
