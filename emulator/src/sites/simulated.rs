//! The emulated rounds in virtual time.

use inart_planner_sites::{AuxiliaryUse, Options as PlanOptions, Sharing};
use inart_simulator_sites::ideal::{self, Knowledge, RunOptions, Until};
use inart_simulator_sites::{Knowledge as Known, Options, SimulationError, Traces};

use super::report::PerRound;
use super::setting::Setting;
use crate::error::Error;

/// Share of a message in a full frame: 1418 of 1494 bytes; the others are headers of Ethernet, IP, UDP and
/// QUIC, and its seal.
pub const PAYLOAD_SHARE: f64 = 1418.0 / 1494.0;

/// Returns the number of rounds that begin within the duration if each waits for the end of the one before at
/// all sites.
pub fn rounds(setting: &Setting, plan: &PlanOptions) -> Result<u32, Error> {
    let options = RunOptions {
        plan: plan.clone(),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: setting.knowledge,
        prior_bps: setting.prior_bps,
        tuning: inart_planner_sites::Tuning::default(),
        until: Until::Seconds(setting.duration.as_secs_f64()),
    };
    let overlay = setting.overlay.with_rates_times(PAYLOAD_SHARE);
    let run = ideal::run(&overlay, &overlay.jobs()[0], &options);
    let problem = |error: ideal::RunError| Error::Option { option: "schemes", problem: error.to_string() };
    Ok((run.map_err(problem)?.rounds.len() as u32).min(setting.most_rounds))
}

/// Runs what the processes run, on links that carry nothing but chunks, one by one in the order that
/// their senders choose. A site takes `compute_s` seconds from a sum to its next gradient.
pub fn simulate(
    setting: &Setting,
    plan: &PlanOptions,
    rounds: u32,
    compute_s: f64,
) -> Result<PerRound, Error> {
    let overlay = setting.overlay.with_rates_times(PAYLOAD_SHARE);
    let options = Options {
        plan: plan.clone(),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fifo,
        knowledge: match setting.knowledge {
            Knowledge::Static => Known::Static,
            _ => Known::Passive,
        },
        prior_bps: setting.prior_bps,
        traces: Traces::FromTheFirstRound,
        compute_s,
        rounds,
        state_bytes: 0,
        seed: setting.seed,
    };
    let problem = |error: SimulationError| Error::Option { option: "schemes", problem: error.to_string() };
    let outcome = inart_simulator_sites::simulate(&overlay, &options, &[]).map_err(problem)?;
    let ended_s: Vec<f64> = outcome.rounds.iter().map(|round| round.ended_s - outcome.began_s).collect();
    Ok(PerRound::of(&ended_s))
}
