//! Peers of decentralized training on one machine: a namespace per peer, a port of its own rates to a switch,
//! rates that follow their traces, and the processes of peers and their coordinator. Hosts or switches copy
//! the updates.

mod audit;
mod chart;
mod control_messages;
mod limits;
mod processes;
mod rates;
mod report;
mod setting;
mod simulated;
mod switch;
mod wired;
mod wiring;

use std::time::Duration;

use inart_planner_peers::Scheme;

use crate::error::Error;
use crate::machine::certificates;
use crate::machine::scratch::Scratch;
use crate::measured::{Measured, in_turn};
pub use chart::chart;
use processes::Processes;
use report::Carried;
pub use report::{BspFigures, Figures, Report, RoundTime, SchemeReport, SspFigures};
pub use setting::{Setting, Sync, Workload};
pub use switch::SwitchReport;
use wiring::PeersWiring;

/// Longest time until all are connected and one has begun.
const LONGEST_START: Duration = Duration::from_secs(120);
/// A round that takes longer is a failure.
const LONGEST_ROUND: Duration = Duration::from_secs(120);

/// Progress of an emulation.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Name of the scheme.
    pub stage: &'a str,
    /// Multicasts of all schemes that are over.
    pub done: u64,
    /// Multicasts of all schemes.
    pub total: u64,
}

/// Checks that the machine has room for all processes, and that each scheme plans on this network.
///
/// # Errors
/// The setting, what is wrong, and the fix.
pub fn check(setting: &Setting) -> Result<(), Error> {
    limits::check(setting)?;
    for (at, scheme) in setting.schemes.iter().enumerate() {
        if setting.schemes[..at].contains(scheme) {
            let problem = format!("{} is named twice; name it once", scheme.name());
            return Err(Error::Option { option: "schemes", problem });
        }
        simulated::check(setting, *scheme)?;
    }
    Ok(())
}

/// Runs all schemes, one after the other.
///
/// # Errors
/// What the machine has no room for, or the system refuses; a process that fails; an update that is not what
/// was sent.
pub fn emulate_peers(
    setting: &Setting,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Measured<Report>, Error> {
    crate::machine::permission::check()?;
    check(setting)?;
    let each = setting.names().len() as u64 * u64::from(setting.rounds);
    let total = each * setting.schemes.len() as u64;
    let (schemes, problem) = in_turn(setting.schemes.iter().enumerate(), |(at, &scheme)| {
        let before = each * at as u64;
        let mut tell =
            |done: u64| progress(Progress { stage: scheme.name(), done: before + done.min(each), total });
        run_scheme(setting, scheme, &mut tell)
    })?;
    Ok(Measured { report: report::whole(setting, schemes), problem })
}

fn run_scheme(setting: &Setting, scheme: Scheme, tell: &mut dyn FnMut(u64)) -> Result<SchemeReport, Error> {
    let scratch = Scratch::new().map_err(Error::system("make a directory in memory"))?;
    let (names, mut coordinator) = (setting.names(), "coordinator".to_owned());
    while names.contains(&coordinator) {
        coordinator.push('x');
    }
    let everybody = names.iter().chain([&coordinator]).map(String::as_str);
    certificates::write(setting.mesh.name(), everybody, &scratch)
        .map_err(Error::system("write certificates"))?;
    // What coordinators plan with is what ports carry of updates.
    let network = simulated::for_updates(setting, scheme)?.to_yaml();
    std::fs::write(scratch.path("network.yaml"), network).map_err(Error::system("write the network"))?;
    let mut wiring = PeersWiring::build(setting)?;
    let mut processes = Processes::start(setting, scheme, &coordinator, &wiring, &scratch)?;
    let began = processes.wait_for_first_round(LONGEST_START)?;
    let _follower = wiring.follow(began)?;
    let longest = LONGEST_ROUND.saturating_mul(setting.rounds);
    processes.listen_to_the_end(longest, &mut |records| tell(records.ended.len() as u64))?;
    let records = processes.end()?;
    let seconds = began.elapsed().as_secs_f64();
    let bytes = wiring.carried()?;
    let ports = Carried { bytes, seconds, frames_lost: wiring.lost(), switches: wiring.counted()? };
    let checked = audit::check(setting, &records)?;
    report::report(setting, scheme, &records, checked, &ports)
}
