//! Both levels on one machine: switches and workers inside sites, trees between sites.

mod audit;
mod setting;
mod times;
mod workers;

use std::time::{Duration, Instant};

use super::certificates;
use super::processes::Processes;
use super::refusal::system;
use super::wiring::WideAreaWiring;
use crate::error::Error;
use crate::machine::scratch::Scratch;
use crate::machine::wiring::namespace;
use audit::Audit;
pub use setting::BothSetting;
pub use times::{BothReport, BothRound};
use workers::Insides;

/// Runs the rounds; reports the number of compared ones.
///
/// # Errors
/// Errors of the system; a process that fails; a wrong sum.
pub fn emulate_both(setting: &BothSetting, tell: &mut dyn FnMut(u32)) -> Result<BothReport, Error> {
    crate::machine::permission::check()?;
    let (between, hierarchy) = (&setting.between, &setting.hierarchy);
    let scratch = Scratch::new().map_err(system("make a directory in memory"))?;
    certificates::write(&hierarchy.overlay, &scratch).map_err(system("write certificates"))?;
    let write = std::fs::write(scratch.path("network.yaml"), hierarchy.to_yaml());
    write.map_err(system("write the network"))?;
    let mut insides = Insides::build(setting)?;
    let mut sites = Vec::new();
    for name in hierarchy.overlay.sites() {
        sites.push(match insides.namespace_of(name)? {
            Some(namespace) => namespace,
            None => namespace()?,
        });
    }
    let wiring = WideAreaWiring::build_in(&between.overlay, between.seed, sites)?;
    let arguments = |name: &str| insides.arguments(setting, name);
    let mut processes =
        Processes::start(between, &setting.flags, setting.rounds, &wiring, &scratch, &arguments)?;
    insides.start_workers(setting)?;
    let mut audit = Audit::new(setting)?;
    let mut follower = None;
    let deadline = Instant::now() + between.duration + Duration::from_secs(600);
    while !(processes.are_over() && insides.are_done()) {
        if Instant::now() > deadline {
            let cause = std::io::Error::other(format!("{} rounds have ended", audit.rounds()));
            return Err(Error::System { what: "wait for all rounds".to_owned(), cause });
        }
        let heard = insides.listen(&mut |inside, rank, report| audit.take(inside, rank, report));
        // A site's process reports why all end; a worker got the reason from there.
        processes.listen(Duration::from_millis(20))?;
        heard?;
        if follower.is_none() && processes.rounds().values().any(|round| !round.is_empty()) {
            follower = Some(wiring.follow(Instant::now())?);
        }
        audit.check(processes.rounds())?;
        tell(audit.rounds());
    }
    let records = processes.end()?;
    audit.check(&records.rounds)?;
    let summed = insides.summed_in_switches()?;
    times::report(setting, &records, &audit, (summed, insides.accuracy()), wiring.lost())
}
