//! The emulated rounds in virtual time.

use inart_planner_peers::{Multicast, Options, PlanError, Scheme, Sharing};
use inart_simulator_peers::ideal::{Draw, Ssp, SspOptions, run_rounds, run_ssp};
use inart_topologies::peers::Mesh;

use super::control_messages::without_words;
use super::setting::{Setting, Sync};
use crate::error::Error;

/// Share of a port's rate for updates on connections: of the 1494 bytes of a full frame 1418 are a message's,
/// and acknowledgements of received data share the port with sent data.
const OF_CONNECTIONS: f64 = 1418.0 / 1494.0 * (1.0 - ACKNOWLEDGEMENTS);
/// An acknowledgement for every two full frames, of about 90 bytes.
const ACKNOWLEDGEMENTS: f64 = 90.0 / (2.0 * 1494.0);

/// Returns the network as coordinators know it: the rates that its ports carry of updates, as coordinators
/// count these.
///
/// # Errors
/// Ports that control messages of peers would fill.
pub fn for_updates(setting: &Setting, scheme: Scheme) -> Result<Mesh, Error> {
    match setting.multicast {
        Multicast::Hosts => Ok(setting.mesh.with_rates_times(OF_CONNECTIONS)),
        Multicast::Switch => {
            let options = options(setting, scheme);
            without_words(setting, |left| round_s(left, setting, &options))
        }
    }
}

/// A network of what ports carry of updates as virtual time has it, where updates are values only.
fn of_values(mesh: &Mesh, setting: &Setting) -> Mesh {
    mesh.with_rates_times(8.0 * setting.job().update_bytes[0] / setting.update_bits())
}

fn for_values(setting: &Setting, scheme: Scheme) -> Result<Mesh, Error> {
    Ok(of_values(&for_updates(setting, scheme)?, setting))
}

/// Returns the time of a bulk synchronous round on a network with the rates that ports carry of updates, in
/// seconds.
fn round_s(for_updates: &Mesh, setting: &Setting, options: &Options) -> Result<f64, Error> {
    let mesh = of_values(for_updates, setting);
    let run = run_rounds(&mesh, &mesh.jobs()[0], options, Draw::Random, Sharing::Fair, 1);
    Ok(run.map_err(problem)?.seconds)
}

/// Checks that a scheme plans a round on this network.
///
/// # Errors
/// Why not.
pub fn check(setting: &Setting, scheme: Scheme) -> Result<(), Error> {
    round_s(&for_updates(setting, scheme)?, setting, &options(setting, scheme)).map(drop)
}

fn options(setting: &Setting, scheme: Scheme) -> Options {
    Options {
        seed: setting.seed,
        second_pass: setting.reading.second_pass,
        force_after: setting.force_after,
        given: setting.given.clone().filter(|_| scheme == Scheme::Own),
        ..Options::new(scheme, setting.multicast)
    }
}

fn problem(error: PlanError) -> Error {
    Error::Option { option: "schemes", problem: error.to_string() }
}

/// The mean time of a bulk synchronous round, in seconds.
pub fn rounds(setting: &Setting, scheme: Scheme, rounds: u32) -> Result<f64, Error> {
    let mesh = for_values(setting, scheme)?;
    let options = options(setting, scheme);
    let run = run_rounds(&mesh, &mesh.jobs()[0], &options, Draw::Random, Sharing::Fair, rounds);
    Ok(run.map_err(problem)?.seconds)
}

/// Stale synchronous training for as long; none if the job does not state how long peers compute.
pub fn stale(setting: &Setting, scheme: Scheme, duration_s: f64) -> Result<Option<Ssp>, Error> {
    let mesh = for_values(setting, scheme)?;
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
