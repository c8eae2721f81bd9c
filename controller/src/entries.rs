//! What the tables of one switch hold, in our terms: the key structs and action enums of docs/protocol.md.
//! Both what a plan wants and what was read back from a switch are [`SwitchTables`], so that they can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use inart_wire::{Contributors, Epoch, JobId, MacAddr, Seat, ShardId};

use crate::ports::PortNo;
use crate::slots::SlotRange;

/// Key of table `steer`: one worker's frames of one shard, at the port they come in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SteerKey {
    /// The installed plan.
    pub epoch: Epoch,
    /// The job.
    pub job: JobId,
    /// The parameter server and its part of the model.
    pub shard: ShardId,
    /// Seat of the sender; in a partial, of the worker whose frame completed it.
    pub worker: Seat,
    /// Port the frame comes in by.
    pub ingress: PortNo,
}

/// Action of table `steer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteerAction {
    /// Send out of `port`, untouched.
    Forward {
        /// Egress port.
        port: PortNo,
        /// Ranks that may come in through this entry.
        members: Contributors,
    },
    /// Add into a slot of `slots`; when the contributors are `expected`, send the partial out of `port`.
    Add {
        /// Egress port of the partial, and of frames that are not added.
        port: PortNo,
        /// The slots of this (job, shard, block of ranks, epoch) here.
        slots: SlotRange,
        /// Ranks that may come in through this entry.
        members: Contributors,
        /// Ranks that make the sum complete.
        expected: Contributors,
    },
    /// Drop and count.
    Refuse,
}

/// Key of table `results`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResultsKey {
    /// The installed plan.
    pub epoch: Epoch,
    /// The job.
    pub job: JobId,
    /// The parameter server and its part of the model.
    pub shard: ShardId,
    /// Port the result comes in by.
    pub ingress: PortNo,
}

/// Number of a multicast group, unique on its switch, never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u16);

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Action of table `results`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultsAction {
    /// Copy to every port of the group.
    Replicate(GroupId),
    /// Drop and count.
    Refuse,
}

/// Action of table `mac`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacAction {
    /// Send out of the port.
    Send(PortNo),
    /// Copy to every port of the group but the ingress port.
    Flood(GroupId),
    /// Drop and count.
    Refuse,
}

/// Everything the controller writes on one switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchTables {
    /// Table `steer`.
    pub steer: BTreeMap<SteerKey, SteerAction>,
    /// Table `results`.
    pub results: BTreeMap<ResultsKey, ResultsAction>,
    /// Table `mac`.
    pub mac: BTreeMap<MacAddr, MacAction>,
    /// Default action of `mac`.
    pub mac_default: MacAction,
    /// Table `trunks`: ports with a switch behind them.
    pub trunks: BTreeSet<PortNo>,
    /// Multicast groups.
    pub groups: BTreeMap<GroupId, BTreeSet<PortNo>>,
}

impl Default for SwitchTables {
    /// A switch whose pipeline was just set: everything empty, unknown addresses refused.
    fn default() -> Self {
        SwitchTables {
            steer: BTreeMap::new(),
            results: BTreeMap::new(),
            mac: BTreeMap::new(),
            mac_default: MacAction::Refuse,
            trunks: BTreeSet::new(),
            groups: BTreeMap::new(),
        }
    }
}

impl SwitchTables {
    /// Number of entries and groups.
    pub fn len(&self) -> usize {
        self.steer.len() + self.results.len() + self.mac.len() + self.trunks.len() + self.groups.len()
    }

    /// True if nothing was installed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Epochs of `job` that have an entry here.
    pub fn epochs(&self, job: JobId) -> BTreeSet<Epoch> {
        let steer = self.steer.keys().filter(|key| key.job == job).map(|key| key.epoch);
        let results = self.results.keys().filter(|key| key.job == job).map(|key| key.epoch);
        steer.chain(results).collect()
    }

    /// Jobs that have an entry here.
    pub fn jobs(&self) -> BTreeSet<JobId> {
        self.steer.keys().map(|key| key.job).chain(self.results.keys().map(|key| key.job)).collect()
    }

    /// Drops the entries of `job` under the epochs for which `dead` is true, and their multicast groups.
    pub fn retire(&mut self, job: JobId, dead: impl Fn(Epoch) -> bool) {
        self.steer.retain(|key, _| key.job != job || !dead(key.epoch));
        self.results.retain(|key, _| key.job != job || !dead(key.epoch));
        let used = self.used_groups();
        self.groups.retain(|group, _| used.contains(group));
    }

    /// Groups that an entry or the default action of `mac` refers to.
    pub fn used_groups(&self) -> BTreeSet<GroupId> {
        let results = self.results.values().filter_map(|action| match action {
            ResultsAction::Replicate(group) => Some(*group),
            ResultsAction::Refuse => None,
        });
        let mac = self.mac.values().chain([&self.mac_default]).filter_map(|action| match action {
            MacAction::Flood(group) => Some(*group),
            MacAction::Send(_) | MacAction::Refuse => None,
        });
        results.chain(mac).collect()
    }

    /// Slot ranges held by `add` entries.
    pub fn slot_ranges(&self) -> impl Iterator<Item = (&SteerKey, SlotRange)> {
        self.steer.iter().filter_map(|(key, action)| match action {
            SteerAction::Add { slots, .. } => Some((key, *slots)),
            SteerAction::Forward { .. } | SteerAction::Refuse => None,
        })
    }
}
