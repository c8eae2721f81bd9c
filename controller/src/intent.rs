//! Target of an installation: a pure function of the switches' tables, earlier installations, and the
//! plans. docs/decisions explains why a plan version is never reused, and why the previous one stays until
//! the next installation.

use std::collections::{BTreeMap, BTreeSet};

use inart_tables::{Limits, MacAction, MacKey, SwitchTables, TableFull};
use inart_wire::{JobId, PlanVersion};

use crate::ports::{PortMap, is_of_peer};
use crate::requirements::Requirements;
use crate::tables::{self, NoRoom, Occupied};

/// Tables by switch name.
pub type Network = BTreeMap<String, SwitchTables>;

/// Earlier installations of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Plan version that the hosts got last, if any.
    pub live: Option<PlanVersion>,
    /// Whether the live plan version has the wanted plan.
    pub same_plan: bool,
    /// Plan versions that no host uses: earlier ones, and those of failed installations.
    pub stale: BTreeSet<PlanVersion>,
    /// Newest plan version of a removed job.
    pub removed: Option<PlanVersion>,
    /// Plan version next to the live one that hosts may use during a change; it stays.
    pub open: Option<PlanVersion>,
    /// Newest plan version of a change that was undone.
    pub undone: Option<PlanVersion>,
    /// Fixed plan version of the hosts of a job of peers.
    pub only: Option<PlanVersion>,
    /// Whether a plan version that only the switches know is left alone even if its plan is the wanted one:
    /// the hosts that used it are unknown.
    pub own_plan_versions_only: bool,
}

/// One job of an installation.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Number of the job.
    pub job: JobId,
    /// Name of the job.
    pub name: String,
    /// Requirements by switch.
    pub requirements: BTreeMap<String, Requirements>,
    /// Number of slots per range.
    pub window: u32,
    /// Whether to use a new plan version, whatever is installed.
    pub new_plan_version: bool,
    /// Earlier installations of the job.
    pub known: Known,
}

/// Target of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// First step: current tables without unused plan versions.
    pub kept: Network,
    /// Final tables.
    pub desired: Network,
    /// Plan version of every job of the installation.
    pub plan_versions: BTreeMap<JobId, PlanVersion>,
    /// Unused plan versions that lose their entries, by job.
    pub dead: BTreeMap<JobId, BTreeSet<PlanVersion>>,
}

/// Error of an intent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntentError {
    /// Switch without enough slots or groups for a job.
    #[error("switch {switch}: job {job} {reason}{}", fixes(reason, jobs))]
    NoRoom {
        /// Name of the switch.
        switch: String,
        /// Name of the job.
        job: String,
        /// Lack.
        reason: NoRoom,
        /// Jobs with entries there.
        jobs: Vec<JobId>,
    },
    /// Switch without enough slots or groups for a second plan of a running job.
    #[error("switch {switch}: job {job} {reason} next to the other jobs{}", fixes_of_second_plan(jobs))]
    NoRoomForSecondPlan {
        /// Name of the switch.
        switch: String,
        /// Name of the job.
        job: String,
        /// Lack.
        reason: NoRoom,
        /// Other jobs with entries there.
        jobs: Vec<JobId>,
    },
    /// Full table.
    #[error("switch {switch}: {reason}: compile the program with a larger table, or install fewer jobs")]
    TableFull {
        /// Name of the switch.
        switch: String,
        /// Table and its size.
        reason: TableFull,
    },
}

/// Lists fixes for a lack of slots or groups.
fn fixes(reason: &NoRoom, jobs: &[JobId]) -> String {
    let fixes: Vec<_> = reason.smaller().into_iter().chain(remove(jobs)).chain(reason.larger()).collect();
    if fixes.is_empty() { String::new() } else { format!(": {}", fixes.join(", or ")) }
}

/// Lists fixes where the job keeps its window.
fn fixes_of_second_plan(jobs: &[JobId]) -> String {
    let smaller = "start the job again with a smaller window".to_owned();
    let fixes: Vec<_> = remove(jobs).into_iter().chain([smaller]).collect();
    format!(": {}", fixes.join(", or "))
}

/// Lists jobs that could be removed.
fn remove(jobs: &[JobId]) -> Option<String> {
    let numbers: Vec<_> = jobs.iter().map(JobId::to_string).collect();
    match jobs {
        [] => None,
        [only] => Some(format!("remove job {only}, if it is done, with `inart remove {only} TOPOLOGY`")),
        [first, ..] => Some(format!(
            "remove one of the jobs {} that is done, with `inart remove {first} TOPOLOGY`",
            numbers.join(", ")
        )),
    }
}

/// Computes the intent of installing `jobs` on a network that holds `current`. Switches without an entry in
/// `current` are missing: they may still hold entries of unused plan versions, so none of these is reused.
///
/// # Errors
/// A switch without room, or exhausted plan versions.
pub fn intent(
    ports: &PortMap,
    limits: Limits,
    current: &Network,
    jobs: &[Wanted],
) -> Result<Intent, IntentError> {
    let (mut choices, mut gone) = (BTreeMap::new(), BTreeMap::new());
    let mut kept = current.clone();
    let are_all_present = ports.switches().all(|switch| current.contains_key(switch));
    for wanted in jobs {
        let choice = choose(limits, current, are_all_present, wanted);
        for tables in kept.values_mut() {
            tables.retire(wanted.job, |plan_version| choice.dead.contains(&plan_version));
        }
        choices.insert(wanted.job, choice.plan_version);
        gone.insert(wanted.job, choice.dead);
    }
    let mut desired = Network::new();
    for (switch, shared) in tables::shared(ports) {
        let held = kept.entry(switch.clone()).or_default();
        let mut tables = held.clone();
        for wanted in jobs {
            tables.retire(wanted.job, |plan_version| plan_version == choices[&wanted.job]);
        }
        let peers = peers_of_others(&tables, jobs);
        (tables.mac, tables.mac_default, tables.switch_ports) =
            (shared.mac, shared.mac_default, shared.switch_ports);
        for (key, action) in peers {
            tables.mac.entry(key).or_insert(action);
        }
        tables.groups.extend(shared.groups);
        let mut occupied = Occupied::by(&tables, limits.slots);
        // Jobs that keep their plan version may run: other jobs must not use their slots and groups.
        let mut in_order: Vec<_> = jobs.iter().collect();
        in_order.sort_by_key(|wanted| !held.plan_versions(wanted.job).contains(&choices[&wanted.job]));
        for wanted in in_order {
            add(&mut tables, &switch, wanted, choices[&wanted.job], held, &mut occupied).map_err(
                |reason| IntentError::NoRoom {
                    switch: switch.clone(),
                    job: wanted.name.clone(),
                    reason,
                    jobs: held.jobs().into_iter().collect(),
                },
            )?;
        }
        limits.check(&tables).map_err(|reason| IntentError::TableFull { switch: switch.clone(), reason })?;
        desired.insert(switch, tables);
    }
    Ok(Intent { kept, desired, plan_versions: choices, dead: gone })
}

/// Computes the intent of a change of a running job: its new plan under a new plan version next to the
/// active one, with slots and groups of its own. Only its stale plan versions are removed. Shared entries
/// stay.
///
/// # Errors
/// A switch without room.
pub fn live_intent(limits: Limits, current: &Network, wanted: &Wanted) -> Result<Intent, IntentError> {
    let plan_version = after(newest_used(current, wanted));
    let mut kept = current.clone();
    for tables in kept.values_mut() {
        tables.retire(wanted.job, |plan_version| wanted.known.stale.contains(&plan_version));
    }
    let mut desired = kept.clone();
    for (switch, tables) in &mut desired {
        let held = &kept[switch];
        let mut occupied = Occupied::by(held, limits.slots);
        add(tables, switch, wanted, plan_version, held, &mut occupied).map_err(|reason| {
            IntentError::NoRoomForSecondPlan {
                switch: switch.clone(),
                job: wanted.name.clone(),
                reason,
                jobs: held.jobs().into_iter().filter(|job| *job != wanted.job).collect(),
            }
        })?;
        limits.check(tables).map_err(|reason| IntentError::TableFull { switch: switch.clone(), reason })?;
    }
    let dead = [(wanted.job, wanted.known.stale.clone())].into();
    Ok(Intent { kept, desired, plan_versions: [(wanted.job, plan_version)].into(), dead })
}

/// Returns routes to peers of jobs that are not being installed, and that may be unknown otherwise: they
/// stay while the switch copies updates of those jobs.
fn peers_of_others(held: &SwitchTables, jobs: &[Wanted]) -> Vec<(MacKey, MacAction)> {
    let is_pushed = |job: JobId| jobs.iter().any(|wanted| wanted.job == job);
    if held.updates.keys().all(|key| is_pushed(key.job)) {
        return Vec::new();
    }
    let of_peers = held.mac.iter().filter(|(key, _)| is_of_peer(key.dst));
    of_peers.map(|(key, action)| (*key, *action)).collect()
}

/// Adds the entries of a job under a plan version to the tables of a switch. `held` are its current entries
/// there.
fn add(
    tables: &mut SwitchTables,
    switch: &str,
    wanted: &Wanted,
    plan_version: PlanVersion,
    held: &SwitchTables,
    occupied: &mut Occupied,
) -> Result<(), NoRoom> {
    let none = Requirements::default();
    let requirements = wanted.requirements.get(switch).unwrap_or(&none);
    let mine = tables::of_job(requirements, wanted.job, plan_version, wanted.window, held, occupied)?;
    tables.steer.extend(mine.steer);
    tables.results.extend(mine.results);
    tables.updates.extend(mine.updates);
    tables.receivers.extend(mine.receivers);
    tables.groups.extend(mine.groups);
    Ok(())
}

struct Choice {
    plan_version: PlanVersion,
    dead: BTreeSet<PlanVersion>,
}

/// Returns plan versions of the job on switches that no record lists.
fn unknown_versions(current: &Network, wanted: &Wanted) -> BTreeSet<PlanVersion> {
    let Known { live, stale, open, .. } = &wanted.known;
    let mut present = present(current, wanted);
    present.retain(|plan_version| {
        !stale.contains(plan_version) && ![*live, *open].contains(&Some(*plan_version))
    });
    present
}

fn present(current: &Network, wanted: &Wanted) -> BTreeSet<PlanVersion> {
    current.values().flat_map(|tables| tables.plan_versions(wanted.job)).collect()
}

/// Returns the newest plan version that hosts may have got.
fn newest_used(current: &Network, wanted: &Wanted) -> Option<PlanVersion> {
    let Known { live, removed, open, undone, .. } = wanted.known;
    let known = [live, removed, open, undone].into_iter().flatten();
    newest(unknown_versions(current, wanted).into_iter().chain(known))
}

/// Returns the plan version after the newest.
fn after(newest: Option<PlanVersion>) -> PlanVersion {
    newest.map_or(PlanVersion::from(1), |plan_version| PlanVersion::from(plan_version.get().wrapping_add(1)))
}

/// Chooses the plan version to install, and those to remove first.
fn choose(limits: Limits, current: &Network, are_all_present: bool, wanted: &Wanted) -> Choice {
    let Known { live, same_plan, stale, own_plan_versions_only, only, .. } = &wanted.known;
    if let Some(plan_version) = only {
        return Choice { plan_version: *plan_version, dead: BTreeSet::new() };
    }
    let present = present(current, wanted);
    let newest = newest_used(current, wanted);
    let live_is_here = live.is_none_or(|live| present.contains(&live) || present.is_empty());
    let is_known = unknown_versions(current, wanted).is_empty() && live_is_here;
    // A missing switch may have entries of versions that failed installations left, and others may have
    // reused the number: another plan under it would mix with these entries.
    let left = stale.iter().copied().filter(|_| !are_all_present || !is_known);
    let next = after(self::newest(newest.into_iter().chain(left)));
    if !is_known {
        // Another process installed plans, or the records are of another network: no version is known to be
        // unused.
        let plan_version = newest
            .filter(|plan_version| {
                !wanted.new_plan_version && (!own_plan_versions_only || Some(*plan_version) == *live)
            })
            .filter(|plan_version| ![wanted.known.open, wanted.known.undone].contains(&Some(*plan_version)))
            .filter(|plan_version| holds_exactly(limits, current, wanted, *plan_version))
            .unwrap_or(next);
        return Choice { plan_version, dead: BTreeSet::new() };
    }
    match live {
        // Versions newer than the live one come from failed installations.
        Some(live) if *same_plan && !wanted.new_plan_version => Choice {
            plan_version: *live,
            dead: stale.iter().filter(|plan_version| is_newer(**plan_version, *live)).copied().collect(),
        },
        _ => Choice { plan_version: next, dead: stale.clone() },
    }
}

/// Returns whether the job's entries under `plan_version` are those of the wanted plan, on every switch.
fn holds_exactly(limits: Limits, current: &Network, wanted: &Wanted, plan_version: PlanVersion) -> bool {
    let none = Requirements::default();
    current.iter().all(|(switch, held)| {
        let mut others = held.clone();
        others.retire(wanted.job, |other| other == plan_version);
        let mut mine = held.clone();
        mine.retire(wanted.job, |other| other != plan_version);
        let requirements = wanted.requirements.get(switch).unwrap_or(&none);
        let mut occupied = Occupied::by(&others, limits.slots);
        tables::of_job(requirements, wanted.job, plan_version, wanted.window, held, &mut occupied).is_ok_and(
            |tables| {
                let of_job = |key: &JobId| *key == wanted.job;
                mine.steer.iter().filter(|(key, _)| of_job(&key.job)).eq(&tables.steer)
                    && mine.results.iter().filter(|(key, _)| of_job(&key.job)).eq(&tables.results)
                    && tables.groups.iter().all(|(group, ports)| mine.groups.get(group) == Some(ports))
            },
        )
    })
}

/// Compares serial numbers, as for chunk sequences: plan versions wrap after 65536 installations.
fn is_newer(plan_version: PlanVersion, than: PlanVersion) -> bool {
    let ahead = plan_version.get().wrapping_sub(than.get());
    ahead != 0 && ahead < 0x8000
}

/// Returns the newest of some plan versions of a job.
pub(crate) fn newest(plan_versions: impl Iterator<Item = PlanVersion>) -> Option<PlanVersion> {
    plan_versions.reduce(|a, b| if is_newer(b, a) { b } else { a })
}
