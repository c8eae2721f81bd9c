//! Tables of a plan on a switch that holds other entries, which stay. Pure.

use std::collections::BTreeMap;

use inart_tables::{GroupId, ResultsAction, SlotRange, SteerAction, SteerKey, SwitchTables, UpdatesAction};
use inart_wire::{Group, JobId, PlanVersion, ShardId};

use crate::tables::{NoRoom, Occupied};

/// Sum with slots of its own: a shard's sum over one block of ranks, under a plan version of a job.
type Sum = (PlanVersion, JobId, ShardId, Group);

fn sum(key: &SteerKey, group: Group) -> Sum {
    (key.plan_version, key.job, key.shard, group)
}

fn sums(tables: &SwitchTables) -> BTreeMap<Sum, SlotRange> {
    let slots = tables.steer.iter().filter_map(|(key, action)| match action {
        SteerAction::Add { slots, expected, .. } => Some((sum(key, expected.group), *slots)),
        SteerAction::Forward { .. } | SteerAction::Refuse => None,
    });
    slots.collect()
}

/// Merges `wanted` with `kept` on a switch with `slots` slots. Wanted entries keep their slots and
/// multicast groups of `last` where possible; else those of `wanted`; else they get free ones.
///
/// # Errors
/// Too few slots or multicast groups.
pub(crate) fn merged(
    kept: &SwitchTables,
    wanted: &SwitchTables,
    last: &SwitchTables,
    slots: u32,
) -> Result<SwitchTables, NoRoom> {
    let mut occupied = Occupied::by(kept, slots);
    let ranges = ranges(wanted, last, &mut occupied)?;
    let mut both = wanted.clone();
    for (key, action) in &mut both.steer {
        if let SteerAction::Add { slots, expected, .. } = action
            && let Some(given) = ranges.get(&sum(key, expected.group))
        {
            *slots = *given;
        }
    }
    both.groups.clone_from(&kept.groups);
    let moved = groups(wanted, last, &mut occupied)?;
    for (id, ports) in &wanted.groups {
        both.groups.insert(moved.get(id).copied().unwrap_or(*id), ports.clone());
    }
    for action in both.results.values_mut() {
        if let ResultsAction::Replicate { group } = action {
            *group = moved[group];
        }
    }
    for action in both.updates.values_mut() {
        if let UpdatesAction::Replicate { group } = action {
            *group = moved[group];
        }
    }
    both.steer.extend(kept.steer.iter().map(|(key, action)| (*key, *action)));
    both.results.extend(kept.results.iter().map(|(key, action)| (*key, *action)));
    both.updates.extend(kept.updates.iter().map(|(key, action)| (*key, *action)));
    both.receivers.extend(kept.receivers.iter().map(|(key, action)| (*key, *action)));
    Ok(both)
}

/// Chooses a multicast group for each group that rows of `wanted` copy results or updates to.
fn groups(
    wanted: &SwitchTables,
    last: &SwitchTables,
    occupied: &mut Occupied,
) -> Result<BTreeMap<GroupId, GroupId>, NoRoom> {
    let results = wanted.results.iter().map(|(key, action)| {
        let before = last.results.get(key).and_then(of_results);
        (of_results(action), before)
    });
    let updates = wanted.updates.iter().map(|(key, action)| {
        let before = last.updates.get(key).and_then(of_updates);
        (of_updates(action), before)
    });
    let mut now_and_before = BTreeMap::new();
    for (now, before) in results.chain(updates) {
        if let Some(now) = now {
            now_and_before.entry(now).or_insert(before);
        }
    }
    // The flooding group has no row, and the same number on every switch.
    for id in wanted.groups.keys().filter(|id| !now_and_before.contains_key(id)) {
        occupied.keep(*id);
    }
    let (mut moved, mut missing) = (BTreeMap::new(), Vec::new());
    for (now, before) in now_and_before {
        match [before, Some(now)].into_iter().flatten().find(|id| occupied.keep(*id)) {
            Some(id) => drop(moved.insert(now, id)),
            None => missing.push(now),
        }
    }
    for now in missing {
        moved.insert(now, occupied.group()?);
    }
    Ok(moved)
}

fn of_results(action: &ResultsAction) -> Option<GroupId> {
    match action {
        ResultsAction::Replicate { group } => Some(*group),
        ResultsAction::Refuse => None,
    }
}

fn of_updates(action: &UpdatesAction) -> Option<GroupId> {
    match action {
        UpdatesAction::Replicate { group } => Some(*group),
        UpdatesAction::Refuse => None,
    }
}

/// Assigns slots to every sum.
fn ranges(
    wanted: &SwitchTables,
    last: &SwitchTables,
    occupied: &mut Occupied,
) -> Result<BTreeMap<Sum, SlotRange>, NoRoom> {
    let [now, before] = [wanted, last].map(sums);
    let (mut given, mut missing) = (BTreeMap::new(), Vec::new());
    for (sum, range) in now {
        let before = before.get(&sum).copied().filter(|before| before.len == range.len);
        match [before, Some(range)].into_iter().flatten().find(|range| occupied.keep_slots(*range)) {
            Some(range) => drop(given.insert(sum, range)),
            None => missing.push((sum, range.len)),
        }
    }
    for (sum, len) in missing {
        given.insert(sum, occupied.range(len)?);
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use inart_tables::{PortNo, ResultsKey, UpdatesKey};
    use inart_wire::{Contributors, Rank};

    use super::*;

    /// A worker's sum and its results under a plan version, in the first slots and the second group.
    fn tables(plan_version: u16) -> SwitchTables {
        let (plan_version, job, shard, port) =
            (PlanVersion::from(plan_version), JobId::from(1), ShardId::from(0), PortNo::nth(0));
        let ingress = port.expect("a first port");
        let bitmap_index = Rank::try_from(0usize).expect("a first rank").bitmap_index();
        let expected = Contributors::one(bitmap_index);
        let slots = SlotRange { base: 0, len: 64 };
        let mut tables = SwitchTables::default();
        tables.steer.insert(
            SteerKey { plan_version, job, shard, worker: bitmap_index, ingress },
            SteerAction::Add { port: ingress, slots, members: expected, expected },
        );
        let group = GroupId(2);
        tables
            .results
            .insert(ResultsKey { plan_version, job, shard, ingress }, ResultsAction::Replicate { group });
        tables.groups.insert(group, [ingress].into());
        tables
    }

    #[test]
    fn kept_and_wanted_entries_share_neither_slots_nor_groups() {
        let (kept, wanted) = (tables(1), tables(2));
        let both = merged(&kept, &wanted, &SwitchTables::default(), 128).expect("there is room");
        assert_eq!((both.steer.len(), both.results.len(), both.groups.len()), (2, 2, 2));
        let bases: BTreeSet<u32> = both.slot_ranges().map(|(_, range)| range.base).collect();
        assert_eq!(bases, [0, 64].into());
        assert!(kept.steer.iter().all(|(key, action)| both.steer[key] == *action));
        // Nothing moves when computed again, or after the kept entries were removed.
        assert_eq!(merged(&kept, &wanted, &both, 128).as_ref(), Ok(&both));
        let mut alone = both.clone();
        alone.retire(JobId::from(1), |plan_version| plan_version == PlanVersion::from(1));
        assert_eq!(merged(&SwitchTables::default(), &wanted, &both, 128), Ok(alone));
    }

    #[test]
    fn copies_of_updates_get_a_group_that_nothing_kept_uses() {
        let kept = tables(1);
        let mut wanted = SwitchTables::default();
        let port = PortNo::nth(0).expect("a first port");
        let members: Vec<_> =
            (0usize..2).map(|rank| Rank::try_from(rank).expect("a rank").bitmap_index()).collect();
        let (plan_version, job, group) = (PlanVersion::from(1), JobId::from(32768), GroupId(2));
        for worker in members {
            let key = UpdatesKey { plan_version, job, group: Group(0), worker, ingress: port };
            wanted.updates.insert(key, UpdatesAction::Replicate { group });
        }
        wanted.groups.insert(group, [port].into());
        let both = merged(&kept, &wanted, &SwitchTables::default(), 128).expect("there is room");
        let used: BTreeSet<_> = both.updates.values().filter_map(of_updates).collect();
        assert_eq!((used.len(), both.updates.len(), both.groups.len()), (1, 2, 2));
        assert!(!used.contains(&group) && used.iter().all(|id| both.groups[id] == [port].into()));
        assert_eq!(merged(&kept, &wanted, &both, 128).as_ref(), Ok(&both));
    }

    #[test]
    fn a_switch_without_room_for_both_is_refused() {
        let full = merged(&tables(1), &tables(2), &SwitchTables::default(), 64);
        assert_eq!(full, Err(NoRoom::Slots { ranges: 1, window: 64, available: 0, total: 64 }));
    }
}
