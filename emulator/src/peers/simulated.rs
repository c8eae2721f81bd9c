//! The same rounds in virtual time.

use inart_peers::{
    Draw, Mesh, Multicast, Options, PlanError, Scheme, Sharing, Ssp, SspOptions, run_rounds, run_ssp,
};

use super::setting::{Setting, Sync};
use crate::error::Error;

/// Of a port's rate so much is there for updates on connections: of the 1494 bytes of a full frame 1418 are a
/// message's, and acknowledgements of what comes in share the port with what goes out.
const OF_CONNECTIONS: f64 = 1418.0 / 1494.0 * (1.0 - ACKNOWLEDGEMENTS);
/// An acknowledgement for every two full frames, of about 90 bytes.
const ACKNOWLEDGEMENTS: f64 = 90.0 / (2.0 * 1494.0);

/// Of a port's rate so much is there for updates, as coordinators count them: those of frames count whole
/// frames themselves.
pub fn share_for_updates(setting: &Setting) -> f64 {
    match setting.multicast {
        Multicast::Hosts => OF_CONNECTIONS,
        Multicast::Switch => 1.0,
    }
}

/// The network as virtual time has it, where updates are values only.
fn for_values(setting: &Setting) -> Mesh {
    let values = 8.0 * setting.job().update_bytes[0] / setting.update_bits();
    setting.mesh.with_rates_times(share_for_updates(setting) * values)
}

fn options(setting: &Setting, scheme: Scheme) -> Options {
    Options {
        seed: setting.seed,
        second_pass: setting.reading.second_pass,
        force_after: setting.force_after,
        ..Options::new(scheme, setting.multicast)
    }
}

fn problem(error: PlanError) -> Error {
    Error::Option { option: "schemes", problem: error.to_string() }
}

/// The mean time of a bulk synchronous round, in seconds.
pub fn rounds(setting: &Setting, scheme: Scheme, rounds: u32) -> Result<f64, Error> {
    let mesh = for_values(setting);
    let options = options(setting, scheme);
    let run = run_rounds(&mesh, &mesh.jobs()[0], &options, Draw::Random, Sharing::Fair, rounds);
    Ok(run.map_err(problem)?.seconds)
}

/// Stale synchronous training for as long; none if the job does not state how long peers compute.
pub fn stale(setting: &Setting, scheme: Scheme, duration_s: f64) -> Result<Option<Ssp>, Error> {
    let mesh = for_values(setting);
    let job = &mesh.jobs()[0];
    let staleness = match setting.sync {
        Sync::Bsp => Some(0),
        Sync::Ssp { staleness } => staleness.map(u64::from),
    };
    if job.computes.is_empty() {
        return Ok(None);
    }
    let options = SspOptions {
        plan: options(setting, scheme),
        reading: setting.reading.clone(),
        draw: Draw::Random,
        staleness,
        sharing: Sharing::Fair,
        duration_s,
    };
    run_ssp(&mesh, job, &options).map(Some).map_err(problem)
}
