//! Jobs that the switches of a network hold: shows which jobs use slots, even without records.

use std::collections::{BTreeMap, BTreeSet};

use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};
use serde::Serialize;

use crate::assignment::job_number;
use crate::intent::Network;
use crate::kind::JobKind;
use crate::peers::{Peers, plan_version};
use crate::records::Records;
use inart_tables::SlotRange;

/// Job with entries on switches, or installed according to the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldJob {
    /// Number of the job.
    pub job: JobId,
    /// Kind of the job.
    pub kind: JobKind,
    /// Name from the records, or else from the topology; `None` if both lack the number.
    pub name: Option<String>,
    /// Whether the topology has this job under this number, or the records list it as a job of peers.
    pub in_topology: bool,
    /// Plan versions with entries on a switch.
    pub plan_versions: BTreeSet<PlanVersion>,
    /// Plan version that the hosts got, if the records have it.
    pub live: Option<PlanVersion>,
    /// Hosts that registered at a controller under that plan version, such as worker-3. Their end is not
    /// recorded.
    pub claimed: BTreeSet<String>,
    /// Switches with entries of the job.
    pub switches: BTreeSet<String>,
    /// Number of slots per switch.
    pub slots: BTreeMap<String, u32>,
}

impl HeldJob {
    /// Returns whether the job holds resources although the topology does not have it: the job was removed
    /// there, or got another number.
    pub fn has_left(&self) -> bool {
        !self.in_topology && !self.plan_versions.is_empty()
    }
}

impl std::fmt::Display for HeldJob {
    /// Formats as `2 (vgg)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({name})", self.job),
            None => self.job.fmt(f),
        }
    }
}

/// Returns the jobs that `network` and `records` hold, by number.
pub(crate) fn of(
    network: &Network,
    records: &Records,
    peers: Option<&Peers>,
    topology: &Topology,
) -> Vec<HeldJob> {
    let of_peers = |number: JobId| peers?.jobs().find(|(job, _)| *job == number).map(|(_, job)| &job.name);
    let on_switches = network.values().flat_map(|tables| tables.jobs());
    let recorded = records.jobs.iter().filter(|(_, record)| record.live().is_some()).map(|(job, _)| *job);
    let recorded = recorded.chain(peers.into_iter().flat_map(Peers::jobs).map(|(job, _)| job));
    let numbers: BTreeSet<JobId> = on_switches.chain(recorded).collect();
    let jobs = numbers.into_iter().map(|job| {
        let record = records.jobs.get(&job);
        let live = record.and_then(|record| record.live());
        let of_topology = topology.jobs().iter().find(|found| job_number(topology, &found.name) == Some(job));
        let of_topology = of_topology.map(|found| &found.name);
        let copied = of_peers(job);
        let recorded = live.map(|live| &live.plan.job).or(copied);
        let slots = network.iter().filter_map(|(switch, tables)| {
            let mine = tables.slot_ranges().filter(|(key, _)| key.job == job);
            let ranges: BTreeSet<SlotRange> = mine.map(|(_, range)| range).collect();
            let slots = ranges.iter().map(|range| range.len).sum();
            (slots > 0).then(|| (switch.clone(), slots))
        });
        let switches = network.iter().filter(|(_, tables)| tables.jobs().contains(&job));
        HeldJob {
            job,
            kind: JobKind::of(job),
            switches: switches.map(|(switch, _)| switch.clone()).collect(),
            name: recorded.or(of_topology).cloned(),
            in_topology: copied.is_some()
                || of_topology.is_some() && recorded.is_none_or(|name| Some(name) == of_topology),
            plan_versions: network.values().flat_map(|tables| tables.plan_versions(job)).collect(),
            live: live.map(|live| live.plan_version).or(copied.map(|_| plan_version())),
            claimed: record
                .into_iter()
                .flat_map(|record| record.claimed.roles())
                .map(str::to_owned)
                .collect(),
            slots: slots.collect(),
        }
    });
    jobs.collect()
}

/// Why a job is not among those held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotHeld {
    /// Unknown name or number.
    #[error("no switch holds a job {asked}; {}", list(held))]
    Unknown {
        /// Requested name or number.
        asked: String,
        /// Jobs on the switches.
        held: Vec<HeldJob>,
    },
    /// Name with several numbers, since the topology's list of jobs changed.
    #[error("several jobs are called {asked}: give the number, {}", numbers.iter().map(JobId::to_string).collect::<Vec<_>>().join(" or "))]
    Ambiguous {
        /// Name of the jobs.
        asked: String,
        /// Numbers of the jobs.
        numbers: Vec<JobId>,
    },
}

fn list(held: &[HeldJob]) -> String {
    match held {
        [] => "they hold none".to_owned(),
        held => format!("they hold {}", held.iter().map(HeldJob::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the job with that number, or else with that name.
///
/// # Errors
/// An unknown number or name, or several jobs of that name.
pub fn find<'a>(held: &'a [HeldJob], asked: &str) -> Result<&'a HeldJob, NotHeld> {
    if let Some(numbered) = held.iter().find(|job| job.job.to_string() == asked) {
        return Ok(numbered);
    }
    let named: Vec<_> = held.iter().filter(|job| job.name.as_deref() == Some(asked)).collect();
    match named[..] {
        [only] => Ok(only),
        [] => Err(NotHeld::Unknown { asked: asked.to_owned(), held: held.to_vec() }),
        _ => Err(NotHeld::Ambiguous {
            asked: asked.to_owned(),
            numbers: named.iter().map(|job| job.job).collect(),
        }),
    }
}
