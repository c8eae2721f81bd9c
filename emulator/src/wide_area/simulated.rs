//! The same rounds in virtual time.

use inart_overlay::{AuxiliaryUse, Knowledge, Options as PlanOptions, RunOptions, Sharing, Until};
use inart_site_simulator::{Knowledge as Known, Options, SimulationError};

use super::setting::Setting;
use crate::error::Error;

/// Of the 1494 bytes of a full frame 1418 are a message's: the others are headers of Ethernet, IP, UDP and
/// QUIC, and its seal.
pub const PAYLOAD_SHARE: f64 = 1418.0 / 1494.0;

/// Rounds in virtual time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    pub rounds: u32,
    /// From the first one's beginning to the last one's end, per round, in seconds.
    pub mean_s: f64,
}

/// Runs what the processes run, on links that carry nothing but chunks. There are as many rounds as would
/// begin within the duration if each waited for the end of the one before at all sites.
pub fn simulate(setting: &Setting, plan: &PlanOptions) -> Result<Simulated, Error> {
    let options = RunOptions {
        plan: plan.clone(),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: setting.knowledge,
        prior_bps: setting.prior_bps,
        tuning: inart_overlay::Tuning::default(),
        until: Until::Seconds(setting.duration.as_secs_f64()),
    };
    let overlay = setting.overlay.with_rates_times(PAYLOAD_SHARE);
    let run = inart_overlay::run(&overlay, &overlay.jobs()[0], &options);
    let problem =
        |error: inart_overlay::RunError| Error::Option { option: "schemes", problem: error.to_string() };
    let rounds = (run.map_err(problem)?.rounds.len() as u32).min(setting.most_rounds);
    let options = Options {
        plan: plan.clone(),
        auxiliary: AuxiliaryUse::default(),
        sharing: Sharing::Fair,
        knowledge: match setting.knowledge {
            Knowledge::Static => Known::Static,
            _ => Known::Passive,
        },
        prior_bps: setting.prior_bps,
        rounds,
        seed: setting.seed,
    };
    let problem = |error: SimulationError| Error::Option { option: "schemes", problem: error.to_string() };
    let outcome = inart_site_simulator::simulate(&overlay, &options, &[]).map_err(problem)?;
    let ended_s = outcome.rounds.last().map_or(0.0, |round| round.ended_s);
    Ok(Simulated { rounds, mean_s: (ended_s - outcome.began_s) / f64::from(rounds.max(1)) })
}
