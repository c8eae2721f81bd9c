//! Report of an installation.

use std::collections::{BTreeMap, BTreeSet};

use inart_protocol_aggregation::Assignment;
use inart_tables::{GroupId, Item, Op, ResultsAction, SwitchTables, Update, UpdatesAction};
use inart_targets::Running;
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};

use crate::intent::Network;

/// Changes of one switch.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchChange {
    /// Program of the switch before; any other than ours is replaced.
    pub running: Running,
    /// Updates, in order.
    pub updates: Vec<Update>,
    /// Number of entries and groups that stay.
    pub unchanged: usize,
}

impl SwitchChange {
    /// Returns the number of updates of one kind.
    pub fn count(&self, op: Op) -> usize {
        self.updates.iter().filter(|update| update.op == op).count()
    }
}

/// Changes of an installation.
#[derive(Debug, Clone, PartialEq)]
pub struct InstallReport {
    /// Changes by switch name.
    pub switches: BTreeMap<String, SwitchChange>,
    /// Assignments of the hosts, in the order of the plans.
    pub assignments: Vec<Assignment>,
    /// Names of the active jobs of peers afterwards, by number.
    pub peers: BTreeMap<JobId, String>,
    /// Names of removed jobs of peers, by number.
    pub removed: BTreeMap<JobId, String>,
    /// Values per frame of the switches' program, which peers need.
    pub values: ValuesPerFrame,
    /// Tables of every switch afterwards.
    pub desired: Network,
    /// Plan versions that no host uses, by job: a missing switch loses their entries, too.
    pub dead: BTreeMap<JobId, BTreeSet<PlanVersion>>,
}

impl InstallReport {
    /// Returns the number of updates on all switches.
    pub fn updates(&self) -> usize {
        self.switches.values().map(|change| change.updates.len()).sum()
    }

    /// Returns the number of updates of one job's own entries and groups on all switches. Shared entries
    /// count for no job.
    pub fn updates_of(&self, job: JobId) -> usize {
        let of_switch = |(switch, change): (&String, &SwitchChange)| {
            let groups = self.desired.get(switch).map(|tables| groups_of(tables, job)).unwrap_or_default();
            change.updates.iter().filter(|update| is_of(&update.item, job, &groups)).count()
        };
        self.switches.iter().map(of_switch).sum()
    }
}

/// Returns whether an item belongs to a job, whose rows copy to `groups`.
fn is_of(item: &Item, job: JobId, groups: &BTreeSet<GroupId>) -> bool {
    match item {
        Item::Steer(key, _) => key.job == job,
        Item::Results(key, _) => key.job == job,
        Item::Updates(key, _) => key.job == job,
        Item::Receivers(key, _) => key.job == job,
        Item::Group(group, _) => groups.contains(group),
        _ => false,
    }
}

/// Returns the multicast groups that rows of a job copy to.
fn groups_of(tables: &SwitchTables, job: JobId) -> BTreeSet<GroupId> {
    let results = tables.results.iter().filter(|(key, _)| key.job == job);
    let results = results.filter_map(|(_, action)| match action {
        ResultsAction::Replicate { group } => Some(*group),
        ResultsAction::Refuse => None,
    });
    let updates = tables.updates.iter().filter(|(key, _)| key.job == job);
    let updates = updates.filter_map(|(_, action)| match action {
        UpdatesAction::Replicate { group } => Some(*group),
        UpdatesAction::Refuse => None,
    });
    results.chain(updates).collect()
}
