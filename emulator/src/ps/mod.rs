//! Training at a parameter server on one machine: a namespace per host, a port of its own rate to a switch,
//! and the processes of the server and its workers. Every update is computed again and compared.

mod arriving;
mod audit;
mod audit_groups;
mod chart;
mod commands;
mod faults;
pub mod groups;
mod ledger;
mod processes;
mod records;
mod report;
mod setting;
mod simulated;
#[cfg(test)]
mod tests;
mod versions;
mod wiring;

use std::time::Duration;

use inart_report::monotonic_ns;

use crate::error::Error;
use crate::machine::certificates;
use crate::machine::scratch::Scratch;
use crate::measured::{Measured, in_turn};
pub use chart::chart;
use faults::PendingFaults;
pub use faults::ProcessFaults;
use processes::Processes;
pub use report::{Evaluation, Report, SchemeReport};
pub use setting::{Clients, Order, Scheme, Setting, Transport, scaled};
pub use simulated::Simulated;
use wiring::PsWiring;

/// An iteration that takes longer is a failure, and so is a start.
const LONGEST: Duration = Duration::from_secs(60);

/// Progress of an emulation.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Name of the scheme.
    pub stage: &'a str,
    /// Updates that were applied, of all orders.
    pub done: u64,
    /// Updates of all orders.
    pub total: u64,
}

/// Runs all schemes, one after the other.
///
/// # Errors
/// Errors of the system; a process that fails; an update that is lost, duplicated or wrong.
pub fn emulate_order(
    setting: &Setting,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Measured<Report>, Error> {
    crate::machine::permission::check()?;
    let each = setting.job.participants.len() as u64 * u64::from(setting.iterations);
    let total = each * setting.schemes.len() as u64;
    let (schemes, problem) = in_turn(setting.schemes.iter().enumerate(), |(at, scheme)| {
        let before = each * at as u64;
        let mut tell =
            |done: u64| progress(Progress { stage: &scheme.name, done: before + done.min(each), total });
        run_scheme(setting, scheme, &mut tell)
    })?;
    Ok(Measured { report: report::whole(setting, schemes), problem })
}

fn run_scheme(setting: &Setting, scheme: &Scheme, tell: &mut dyn FnMut(u64)) -> Result<SchemeReport, Error> {
    let scratch = Scratch::new().map_err(Error::system("make a directory in memory"))?;
    let workers = setting.job.participants.iter().map(|worker| worker.name.as_str());
    certificates::write(&setting.network, workers.chain([&*setting.server]), &scratch)
        .map_err(Error::system("write certificates"))?;
    let written = std::fs::write(scratch.path("network.yaml"), setting.document());
    written.map_err(Error::system("write the network"))?;
    let wiring = PsWiring::build(setting)?;
    let mut processes = Processes::start(setting, scheme, &wiring, &scratch)?;
    let mut due = PendingFaults::new(&setting.faults);
    let mut before = [0; 2];
    let mut carried = [0; 2];
    let longest = LONGEST.saturating_mul(setting.iterations + 1);
    processes.listen_to_the_end(longest, &mut |processes| {
        change(processes, &mut due)?;
        let records = processes.records();
        tell(records.pushed.len() as u64);
        let now = wiring.carried()?;
        match (records.pulls.is_empty(), records.counted.is_some()) {
            (true, _) => before = now,
            (false, false) => carried = now,
            (false, true) => {}
        }
        Ok(())
    })?;
    let records = processes.end()?;
    let checked = match (&setting.clients, scheme.order.groups()) {
        (Some(clients), Some(groups)) => audit_groups::check(setting, clients, groups, &records)?,
        _ => audit::check(setting, &records)?,
    };
    if !due.is_over() {
        tracing::warn!("{}: the training was over before all faults had happened", scheme.name);
    }
    let bytes = [0, 1].map(|way| carried[way].saturating_sub(before[way]));
    report::report(setting, scheme, &records, &checked, bytes, wiring.dropped())
}

/// Kills and starts processes, as far as it is time.
fn change(processes: &mut Processes<'_>, due: &mut PendingFaults<'_>) -> Result<(), Error> {
    let Some(began_ns) = processes.records().pulls.first().map(|first| first.at_ns) else { return Ok(()) };
    let now_s = monotonic_ns().saturating_sub(began_ns) as f64 / 1e9;
    while !processes.is_counted()
        && let Some((who, starts)) = due.take(now_s)
    {
        match starts {
            true => processes.start_again(who)?,
            false => processes.kill(who)?,
        }
    }
    Ok(())
}
