//! Where a push wants to go: a pure function of what the switches hold, what is known of earlier pushes, and
//! the plans. See docs/decisions for why a plan version is never used twice and the one before stays until
//! the next push.

use std::collections::{BTreeMap, BTreeSet};

use inart_tables::{Limits, MacAction, MacKey, SwitchTables, TableFull};
use inart_wire::{JobId, PlanVersion};

use crate::ports::{PortMap, is_of_peer};
use crate::requirements::Requirements;
use crate::tables::{self, NoRoom, Taken};

/// Tables by switch name.
pub type Network = BTreeMap<String, SwitchTables>;

/// What is known of earlier pushes of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The plan version the hosts were last told, if any.
    pub live: Option<PlanVersion>,
    /// True if the live plan version is of the very plan that is wanted now.
    pub same_plan: bool,
    /// Plan versions that no host uses: the ones before the live one, and what failed pushes left.
    pub stale: BTreeSet<PlanVersion>,
    /// Of a job that was removed: its newest plan version.
    pub removed: Option<PlanVersion>,
    /// The plan version beside the live one that hosts may use, while a change is under way: it is left
    /// alone.
    pub open: Option<PlanVersion>,
    /// The newest plan version of a change that was undone.
    pub undone: Option<PlanVersion>,
    /// The only plan version that its hosts use, whatever is pushed: of a job of peers.
    pub only: Option<PlanVersion>,
    /// True if a plan version that only the switches know is left alone even if it is of the wanted plan:
    /// nobody knows who has run under it.
    pub own_plan_versions_only: bool,
}

/// One job's part of a push.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The job's number.
    pub job: JobId,
    /// The job's name.
    pub name: String,
    /// What it asks of each switch.
    pub requirements: BTreeMap<String, Requirements>,
    /// Slots in a range.
    pub window: u32,
    /// Wants a new plan version whatever is installed.
    pub new_plan_version: bool,
    /// What is known of earlier pushes.
    pub known: Known,
}

/// Where a push wants to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The first stop: what the switches hold now without the plan versions that nobody uses.
    pub kept: Network,
    /// The end.
    pub desired: Network,
    /// The plan version of every wanted job.
    pub plan_versions: BTreeMap<JobId, PlanVersion>,
    /// By wanted job, the plan versions that no host uses and that lose their entries.
    pub dead: BTreeMap<JobId, BTreeSet<PlanVersion>>,
}

/// Why a push cannot go anywhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntentError {
    /// A switch lacks slots or groups for a job.
    #[error("switch {switch}: job {job} {reason}{}", fixes(reason, jobs))]
    NoRoom {
        /// The switch.
        switch: String,
        /// The job's name.
        job: String,
        /// What it lacks.
        reason: NoRoom,
        /// The jobs that have entries there.
        jobs: Vec<JobId>,
    },
    /// A switch lacks slots or groups for a second plan of a job that runs.
    #[error("switch {switch}: job {job} {reason} next to the other jobs{}", fixes_beside(jobs))]
    NoRoomBeside {
        /// The switch.
        switch: String,
        /// The job's name.
        job: String,
        /// What it lacks.
        reason: NoRoom,
        /// The other jobs that have entries there.
        jobs: Vec<JobId>,
    },
    /// A table would be too small.
    #[error("switch {switch}: {reason}: compile the program with a larger table, or push fewer jobs")]
    TableFull {
        /// The switch.
        switch: String,
        /// Which table.
        reason: TableFull,
    },
}

/// What can be done about a lack of room.
fn fixes(reason: &NoRoom, jobs: &[JobId]) -> String {
    let fixes: Vec<_> = reason.smaller().into_iter().chain(remove(jobs)).chain(reason.larger()).collect();
    if fixes.is_empty() { String::new() } else { format!(": {}", fixes.join(", or ")) }
}

/// The same where the job keeps its window.
fn fixes_beside(jobs: &[JobId]) -> String {
    let smaller = "start the job again with a smaller window".to_owned();
    let fixes: Vec<_> = remove(jobs).into_iter().chain([smaller]).collect();
    format!(": {}", fixes.join(", or "))
}

/// Which jobs could give way.
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

/// Computes the intent of pushing `jobs` onto a network that holds `current`. Switches that are not in it are
/// away: they may still hold entries of plan versions that no host uses, so none of these is used again.
///
/// # Errors
/// A switch without room, or plan versions that are used up.
pub fn intent(
    ports: &PortMap,
    limits: Limits,
    current: &Network,
    jobs: &[Wanted],
) -> Result<Intent, IntentError> {
    let (mut choices, mut gone) = (BTreeMap::new(), BTreeMap::new());
    let mut kept = current.clone();
    let are_all_there = ports.switches().all(|switch| current.contains_key(switch));
    for wanted in jobs {
        let choice = choose(limits, current, are_all_there, wanted);
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
        let mut taken = Taken::by(&tables, limits.slots);
        // Jobs that stay under their plan version may run: others take no slots and groups of theirs.
        let mut in_turn: Vec<_> = jobs.iter().collect();
        in_turn.sort_by_key(|wanted| !held.plan_versions(wanted.job).contains(&choices[&wanted.job]));
        for wanted in in_turn {
            add(&mut tables, &switch, wanted, choices[&wanted.job], held, &mut taken).map_err(|reason| {
                IntentError::NoRoom {
                    switch: switch.clone(),
                    job: wanted.name.clone(),
                    reason,
                    jobs: held.jobs().into_iter().collect(),
                }
            })?;
        }
        limits.check(&tables).map_err(|reason| IntentError::TableFull { switch: switch.clone(), reason })?;
        desired.insert(switch, tables);
    }
    Ok(Intent { kept, desired, plan_versions: choices, dead: gone })
}

/// Computes where a change of a job that runs leads: its new plan under a new plan version beside whatever is
/// in force, with slots and groups of its own. Only its stale plan versions go. What all jobs share stays as
/// it is.
///
/// # Errors
/// A switch without room.
pub fn beside(limits: Limits, current: &Network, wanted: &Wanted) -> Result<Intent, IntentError> {
    let plan_version = after(newest_used(current, wanted));
    let mut kept = current.clone();
    for tables in kept.values_mut() {
        tables.retire(wanted.job, |plan_version| wanted.known.stale.contains(&plan_version));
    }
    let mut desired = kept.clone();
    for (switch, tables) in &mut desired {
        let held = &kept[switch];
        let mut taken = Taken::by(held, limits.slots);
        add(tables, switch, wanted, plan_version, held, &mut taken).map_err(|reason| {
            IntentError::NoRoomBeside {
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

/// The ways to peers of jobs that are not pushed, and of which nothing else may be known: they stay as long
/// as the switch copies those jobs' updates.
fn peers_of_others(held: &SwitchTables, jobs: &[Wanted]) -> Vec<(MacKey, MacAction)> {
    let is_pushed = |job: JobId| jobs.iter().any(|wanted| wanted.job == job);
    if held.updates.keys().all(|key| is_pushed(key.job)) {
        return Vec::new();
    }
    let of_peers = held.mac.iter().filter(|(key, _)| is_of_peer(key.dst));
    of_peers.map(|(key, action)| (*key, *action)).collect()
}

/// Adds to the tables of a switch what a job wants there under a plan version. `held` is what is there of it.
fn add(
    tables: &mut SwitchTables,
    switch: &str,
    wanted: &Wanted,
    plan_version: PlanVersion,
    held: &SwitchTables,
    taken: &mut Taken,
) -> Result<(), NoRoom> {
    let none = Requirements::default();
    let requirements = wanted.requirements.get(switch).unwrap_or(&none);
    let mine = tables::of_job(requirements, wanted.job, plan_version, wanted.window, held, taken)?;
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

/// The job's plan versions on switches of which nothing is known.
fn strangers(current: &Network, wanted: &Wanted) -> BTreeSet<PlanVersion> {
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

/// The newest plan version that hosts may have been told.
fn newest_used(current: &Network, wanted: &Wanted) -> Option<PlanVersion> {
    let Known { live, removed, open, undone, .. } = wanted.known;
    let known = [live, removed, open, undone].into_iter().flatten();
    newest(strangers(current, wanted).into_iter().chain(known))
}

/// The one after the newest.
fn after(newest: Option<PlanVersion>) -> PlanVersion {
    newest.map_or(PlanVersion::from(1), |plan_version| PlanVersion::from(plan_version.get().wrapping_add(1)))
}

/// Under which plan version to install, and which may go first.
fn choose(limits: Limits, current: &Network, are_all_there: bool, wanted: &Wanted) -> Choice {
    let Known { live, same_plan, stale, own_plan_versions_only, only, .. } = &wanted.known;
    if let Some(plan_version) = only {
        return Choice { plan_version: *plan_version, dead: BTreeSet::new() };
    }
    let present = present(current, wanted);
    let newest = newest_used(current, wanted);
    let live_is_here = live.is_none_or(|live| present.contains(&live) || present.is_empty());
    let is_known = strangers(current, wanted).is_empty() && live_is_here;
    // Of those left by failed pushes, a switch that is away may have entries, and others may have taken the
    // number: another plan under it would be mixed up with them.
    let left = stale.iter().copied().filter(|_| !are_all_there || !is_known);
    let next = after(self::newest(newest.into_iter().chain(left)));
    if !is_known {
        // Somebody else pushed, or the records are of another network: nothing is known to be unused.
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
        // What is newer than the live plan version is what a failed push left.
        Some(live) if *same_plan && !wanted.new_plan_version => Choice {
            plan_version: *live,
            dead: stale.iter().filter(|plan_version| is_newer(**plan_version, *live)).copied().collect(),
        },
        _ => Choice { plan_version: next, dead: stale.clone() },
    }
}

/// True if the job's entries under `plan_version` are those of the wanted plan, on every switch.
fn holds_exactly(limits: Limits, current: &Network, wanted: &Wanted, plan_version: PlanVersion) -> bool {
    let none = Requirements::default();
    current.iter().all(|(switch, held)| {
        let mut others = held.clone();
        others.retire(wanted.job, |other| other == plan_version);
        let mut mine = held.clone();
        mine.retire(wanted.job, |other| other != plan_version);
        let requirements = wanted.requirements.get(switch).unwrap_or(&none);
        let mut taken = Taken::by(&others, limits.slots);
        tables::of_job(requirements, wanted.job, plan_version, wanted.window, held, &mut taken).is_ok_and(
            |tables| {
                let of_job = |key: &JobId| *key == wanted.job;
                mine.steer.iter().filter(|(key, _)| of_job(&key.job)).eq(&tables.steer)
                    && mine.results.iter().filter(|(key, _)| of_job(&key.job)).eq(&tables.results)
                    && tables.groups.iter().all(|(group, ports)| mine.groups.get(group) == Some(ports))
            },
        )
    })
}

/// Serial-number compare, as of chunk sequences: plan versions wrap after 65536 pushes.
fn is_newer(plan_version: PlanVersion, than: PlanVersion) -> bool {
    let ahead = plan_version.get().wrapping_sub(than.get());
    ahead != 0 && ahead < 0x8000
}

/// The newest of some plan versions of a job.
pub(crate) fn newest(plan_versions: impl Iterator<Item = PlanVersion>) -> Option<PlanVersion> {
    plan_versions.reduce(|a, b| if is_newer(b, a) { b } else { a })
}
