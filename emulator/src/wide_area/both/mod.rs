//! Both levels on one machine: switches and workers inside sites, trees between sites.

mod audit;
mod times;
mod workers;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use inart_hierarchy::{Contributor, Hierarchy};
use inart_planner::Plan;
use inart_wire::ValuesPerPacket;

use super::certificates;
use super::processes::Processes;
use super::rates::RateFollower;
use super::refusal::system;
use super::setting::{Setting, Workload};
use super::wiring::WideAreaWiring;
use crate::error::Error;
use crate::scratch::Scratch;
use crate::wiring::namespace;
use audit::Audit;
pub use times::{BothReport, BothRound};
use workers::Insides;

/// A network of both levels, and how it is run.
pub struct BothSetting {
    /// What is between the sites, and what is run; its overlay is the network's.
    pub between: Setting,
    /// The network, scaled already, with one job between sites.
    pub hierarchy: Hierarchy,
    /// The plans of its insides, in their order.
    pub plans: Vec<Plan>,
    /// The flags of `inart site` and `inart scheduler` that say how trees are planned.
    pub flags: Vec<String>,
    /// The scheme of the trees.
    pub scheme: inart_overlay::Scheme,
    /// Rounds to run.
    pub rounds: u32,
    /// Values per frame inside sites.
    pub values: ValuesPerPacket,
    /// Chunks in flight per worker inside sites.
    pub window_chunks: u32,
    /// How long hosts wait for a silent peer.
    pub peer_timeout: Duration,
}

impl BothSetting {
    /// Values of a gradient.
    fn gradient_values(&self) -> usize {
        (self.hierarchy.overlay.jobs()[0].gradient_bytes() / 4) as usize
    }

    fn contributors(&self) -> Vec<Contributor> {
        self.hierarchy.contributors(&self.hierarchy.overlay.jobs()[0])
    }

    /// Images per contributor and round; none without training.
    fn batch(&self) -> Option<usize> {
        match self.between.workload {
            Workload::Training { batch } => Some(batch),
            Workload::Random => None,
        }
    }
}

/// Runs the rounds; tells how many were compared.
///
/// # Errors
/// What the system refuses; a process that fails; a sum that is not what it has to be.
pub fn emulate_both(setting: &BothSetting, tell: &mut dyn FnMut(u32)) -> Result<BothReport, Error> {
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
    let wiring = WideAreaWiring::build_in(&hierarchy.overlay, between.seed, sites)?;
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
        // A site's process says why all end; a worker has heard it from there.
        processes.listen(Duration::from_millis(20))?;
        heard?;
        if follower.is_none() && processes.rounds().values().any(|round| !round.is_empty()) {
            let start = RateFollower::start(between.overlay.clone(), wiring.handles()?, Instant::now());
            follower = Some(start.map_err(system("follow the traces"))?);
        }
        audit.check(processes.rounds())?;
        tell(audit.rounds());
    }
    let said = processes.end()?;
    audit.check(&said.rounds)?;
    let summed = insides.summed_in_switches()?;
    times::report(setting, &said, &audit, (summed, insides.accuracy()), wiring.lost())
}

/// An argument of a command.
fn argument(text: impl Into<OsString>) -> OsString {
    text.into()
}
