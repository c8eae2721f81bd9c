//! Conversion of requirements of a job to table entries of a switch.

use std::collections::{BTreeMap, BTreeSet};

use inart_topologies::units::counted;
use inart_wire::{Group, JobId, PlanVersion, ShardId};

use crate::ports::PortMap;
use crate::requirements::{Hop, Requirements};
use crate::routes;
use crate::slots::SlotMap;
use inart_tables::SlotRange;
use inart_tables::{
    GroupId, MacAction, MacKey, ReceiversAction, ReceiversKey, ResultsAction, ResultsKey, SteerAction,
    SteerKey, SwitchPortsAction, SwitchPortsKey, SwitchTables, UpdatesAction, UpdatesKey,
};

/// Multicast group of the spanning tree, on every switch.
pub const FLOOD: GroupId = GroupId(1);

/// Lack of slots or groups on a switch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// Too few slots.
    #[error("needs {ranges} x {window} slots, {available} of {total} are free")]
    Slots {
        /// Ranges that the plan needs on this switch.
        ranges: u32,
        /// Slots per range.
        window: u32,
        /// Slots without a live plan version.
        available: u32,
        /// Slots of the switch.
        total: u32,
    },
    /// No free group among all 65535.
    #[error("has no multicast group left")]
    Groups,
}

impl NoRoom {
    /// Returns how the job could be made smaller.
    pub(crate) fn smaller(&self) -> Option<String> {
        let NoRoom::Slots { ranges, window, available, .. } = self else { return None };
        // Free slots may be in pieces that are too small, so at most half the window.
        let fits = available.checked_div(*ranges).map_or(0, |fits| fits.min(window / 2));
        (fits > 0).then(|| format!("take a window of {} or less", counted(1u32 << fits.ilog2(), "chunk")))
    }

    /// Returns how the switch could be made larger.
    pub(crate) fn larger(&self) -> Option<String> {
        let slots = matches!(self, NoRoom::Slots { .. }) && self.smaller().is_none();
        slots.then(|| "compile the program with more slots".to_owned())
    }
}

/// Occupied slots and groups of one switch.
#[derive(Debug, Clone)]
pub struct Occupied {
    slots: SlotMap,
    total: u32,
    groups: BTreeSet<GroupId>,
}

impl Occupied {
    /// Returns what the entries of `tables` occupy, on a switch with `total` slots.
    pub fn by(tables: &SwitchTables, total: u32) -> Self {
        let mut slots = SlotMap::new(total);
        tables.slot_ranges().for_each(|(_, range)| slots.reserve(range));
        let mut groups = tables.used_groups();
        groups.insert(FLOOD);
        Occupied { slots, total, groups }
    }

    /// Assigns a slot range to every aggregate of the job here: the one in `held` where it still fits, else
    /// a new one.
    fn slots(
        &mut self,
        wanted: &BTreeSet<Aggregate>,
        window: u32,
        held: &BTreeMap<Aggregate, SlotRange>,
    ) -> Result<BTreeMap<Aggregate, SlotRange>, NoRoom> {
        let mut given = BTreeMap::new();
        for (aggregate, range) in held {
            if wanted.contains(aggregate) && range.len == window && self.slots.is_free(*range) {
                self.slots.reserve(*range);
                given.insert(*aggregate, *range);
            }
        }
        let missing: Vec<_> = wanted.iter().filter(|aggregate| !given.contains_key(aggregate)).collect();
        let before = self.slots.available();
        for aggregate in &missing {
            let range = self.slots.allocate(window).ok_or(NoRoom::Slots {
                ranges: missing.len() as u32,
                window,
                available: before,
                total: self.total,
            })?;
            given.insert(**aggregate, range);
        }
        Ok(given)
    }

    /// Occupies slots if they are free. Returns whether they were.
    pub(crate) fn keep_slots(&mut self, range: SlotRange) -> bool {
        let is_free = self.slots.is_free(range);
        if is_free {
            self.slots.reserve(range);
        }
        is_free
    }

    /// Occupies `len` consecutive slots.
    pub(crate) fn range(&mut self, len: u32) -> Result<SlotRange, NoRoom> {
        let available = self.slots.available();
        let total = self.total;
        self.slots.allocate(len).ok_or(NoRoom::Slots { ranges: 1, window: len, available, total })
    }

    /// Occupies a group if it is free. Returns whether it was.
    pub(crate) fn keep(&mut self, group: GroupId) -> bool {
        self.groups.insert(group)
    }

    pub(crate) fn group(&mut self) -> Result<GroupId, NoRoom> {
        let free =
            (1..=u16::MAX).map(GroupId).find(|group| !self.groups.contains(group)).ok_or(NoRoom::Groups)?;
        self.groups.insert(free);
        Ok(free)
    }
}

/// Aggregate with slots of its own on a switch: a shard's sum over one block of 64 ranks.
type Aggregate = (ShardId, Group);

/// Converts `requirements` to entries under `plan_version`. Slot ranges (of `window` slots) and groups that
/// `held` has under the same plan version are reused; others come from the free ones, and `occupied` is
/// updated.
///
/// # Errors
/// A switch without enough slots or multicast groups.
pub fn of_job(
    requirements: &Requirements,
    job: JobId,
    plan_version: PlanVersion,
    window: u32,
    held: &SwitchTables,
    occupied: &mut Occupied,
) -> Result<SwitchTables, NoRoom> {
    let wanted = requirements.steer.values().zip(requirements.steer.keys());
    let wanted = wanted.filter_map(|(hop, (shard, ..))| match hop {
        Hop::Add { expected, .. } => Some((*shard, expected.group)),
        Hop::Forward { .. } => None,
    });
    let held_slots = held.steer.iter().filter_map(|(key, action)| match action {
        SteerAction::Add { slots, expected, .. } if (key.job, key.plan_version) == (job, plan_version) => {
            Some(((key.shard, expected.group), *slots))
        }
        _ => None,
    });
    let slots = occupied.slots(&wanted.collect(), window, &held_slots.collect())?;
    let mut tables = SwitchTables::default();
    for (&(shard, worker, ingress), hop) in &requirements.steer {
        let action = match *hop {
            Hop::Forward { port, members } => SteerAction::Forward { port, members },
            Hop::Add { port, members, expected } => {
                SteerAction::Add { port, slots: slots[&(shard, expected.group)], members, expected }
            }
        };
        tables.steer.insert(SteerKey { plan_version, job, shard, worker, ingress }, action);
    }
    let keys =
        requirements.results.keys().map(|&(shard, ingress)| ResultsKey { plan_version, job, shard, ingress });
    for key in keys.clone() {
        if let Some(ResultsAction::Replicate { group }) = held.results.get(&key)
            && occupied.keep(*group)
        {
            tables.results.insert(key, ResultsAction::Replicate { group: *group });
        }
    }
    for (key, ports) in keys.zip(requirements.results.values()) {
        let group = match tables.results.get(&key) {
            Some(ResultsAction::Replicate { group }) => *group,
            _ => occupied.group()?,
        };
        tables.results.insert(key, ResultsAction::Replicate { group });
        tables.groups.insert(group, ports.clone());
    }
    add_copies(&mut tables, requirements, (job, plan_version), held, occupied)?;
    Ok(tables)
}

/// Adds the entries that copy updates between peers, with a group for each block of receivers.
fn add_copies(
    tables: &mut SwitchTables,
    requirements: &Requirements,
    (job, plan_version): (JobId, PlanVersion),
    held: &SwitchTables,
    occupied: &mut Occupied,
) -> Result<(), NoRoom> {
    let mut groups = BTreeMap::<Group, GroupId>::new();
    for (key, action) in
        held.updates.iter().filter(|(key, _)| (key.job, key.plan_version) == (job, plan_version))
    {
        if let UpdatesAction::Replicate { group } = action
            && requirements.receivers.contains_key(&key.group)
            && !groups.contains_key(&key.group)
            && occupied.keep(*group)
        {
            groups.insert(key.group, *group);
        }
    }
    for (block, behind) in &requirements.receivers {
        // If all peers are at one port, no update is copied, and a group would be unused.
        if requirements.updates.iter().any(|(of, ..)| of == block) {
            let group = match groups.get(block) {
                Some(group) => *group,
                None => occupied.group()?,
            };
            groups.insert(*block, group);
            tables.groups.insert(group, behind.keys().copied().collect());
        }
        for (&egress, &members) in behind {
            let key = ReceiversKey { plan_version, job, group: *block, egress };
            tables.receivers.insert(key, ReceiversAction::Narrow { members });
        }
    }
    for &(block, worker, ingress) in &requirements.updates {
        if let Some(&group) = groups.get(&block) {
            let key = UpdatesKey { plan_version, job, group: block, worker, ingress };
            tables.updates.insert(key, UpdatesAction::Replicate { group });
        }
    }
    Ok(())
}

/// Returns the entries that every switch has independently of plans: routes to all hosts, the spanning tree
/// for other addresses, and the ports that lead to switches.
pub fn shared(ports: &PortMap) -> BTreeMap<String, SwitchTables> {
    let mut all = BTreeMap::new();
    for (switch, flood) in routes::flood_ports(ports) {
        let switch_ports =
            ports.ports(switch).filter(|(_, peer)| ports.is_switch(peer)).map(|(port, _)| port);
        let mut tables = SwitchTables {
            mac_default: MacAction::Flood { group: FLOOD },
            switch_ports: switch_ports
                .map(|ingress| (SwitchPortsKey { ingress }, SwitchPortsAction::Trust))
                .collect(),
            ..SwitchTables::default()
        };
        tables.groups.insert(FLOOD, flood);
        all.insert(switch.to_owned(), tables);
    }
    for (host, address) in ports.hosts() {
        for (switch, parent) in routes::from_host(ports, host).parent {
            if let (Some(tables), Some(port)) = (all.get_mut(switch), ports.port(switch, parent)) {
                tables.mac.insert(MacKey { dst: address }, MacAction::Send { port });
            }
        }
    }
    all
}
