//! Entries of one switch together.

use std::collections::BTreeSet;

use inart_wire::{JobId, PlanVersion};

use crate::declared::{MacAction, ResultsAction, SteerAction, SteerKey, SwitchTables, UpdatesAction};
use crate::numbers::{GroupId, SlotRange};

impl SwitchTables {
    /// True if nothing was installed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Plan versions of `job` that have an entry here.
    pub fn plan_versions(&self, job: JobId) -> BTreeSet<PlanVersion> {
        let steer = self.steer.keys().filter(|key| key.job == job).map(|key| key.plan_version);
        let results = self.results.keys().filter(|key| key.job == job).map(|key| key.plan_version);
        let updates = self.updates.keys().filter(|key| key.job == job).map(|key| key.plan_version);
        let receivers = self.receivers.keys().filter(|key| key.job == job).map(|key| key.plan_version);
        steer.chain(results).chain(updates).chain(receivers).collect()
    }

    /// Jobs that have an entry here.
    pub fn jobs(&self) -> BTreeSet<JobId> {
        let summed = self.steer.keys().map(|key| key.job).chain(self.results.keys().map(|key| key.job));
        let of_peers = self.updates.keys().map(|key| key.job).chain(self.receivers.keys().map(|key| key.job));
        summed.chain(of_peers).collect()
    }

    /// Drops the entries of `job` under the plan versions for which `dead` is true, and their multicast
    /// groups.
    pub fn retire(&mut self, job: JobId, dead: impl Fn(PlanVersion) -> bool) {
        self.steer.retain(|key, _| key.job != job || !dead(key.plan_version));
        self.results.retain(|key, _| key.job != job || !dead(key.plan_version));
        self.updates.retain(|key, _| key.job != job || !dead(key.plan_version));
        self.receivers.retain(|key, _| key.job != job || !dead(key.plan_version));
        let used = self.used_groups();
        self.groups.retain(|group, _| used.contains(group));
    }

    /// Groups that an entry, or the default action of `mac`, refers to.
    pub fn used_groups(&self) -> BTreeSet<GroupId> {
        let results = self.results.values().filter_map(|action| match action {
            ResultsAction::Replicate { group } => Some(*group),
            ResultsAction::Refuse => None,
        });
        let mac = self.mac.values().chain([&self.mac_default]).filter_map(|action| match action {
            MacAction::Flood { group } => Some(*group),
            MacAction::Send { .. } | MacAction::Refuse => None,
        });
        let updates = self.updates.values().filter_map(|action| match action {
            UpdatesAction::Replicate { group } => Some(*group),
            UpdatesAction::Refuse => None,
        });
        results.chain(updates).chain(mac).collect()
    }

    /// Slot ranges held by `add` entries.
    pub fn slot_ranges(&self) -> impl Iterator<Item = (&SteerKey, SlotRange)> {
        self.steer.iter().filter_map(|(key, action)| match action {
            SteerAction::Add { slots, .. } => Some((key, *slots)),
            SteerAction::Forward { .. } | SteerAction::Refuse => None,
        })
    }
}
