//! Constraints of the chip on entries that aggregate, beyond those of the tables: registers are read once
//! per frame, in one pipe, at a slot that is computed without an adder.
//!
//! The constraints apply among all entries of a slot range on the switch, from any write. Overlapping
//! entries could make a wrong sum, so they are refused even between the updates of one write. The other
//! constraints apply to the state after a write: while they are violated, sums are not completed, and
//! frames are repeated.

use std::collections::{BTreeMap, BTreeSet};

use inart_tables::{Entity, Op, PortNo, Row, SlotRange, Steer, SteerAction, SteerKey, Table, Update};
use inart_wire::Contributors;

use super::ports::Numbering;

/// Sum of one entry, and its place.
#[derive(Debug, Clone, Copy)]
struct Adds {
    slots: SlotRange,
    port: PortNo,
    members: Contributors,
    expected: Contributors,
}

/// Entries of a switch that aggregate.
#[derive(Debug, Clone, Default)]
pub struct Held {
    rows: BTreeMap<SteerKey, Adds>,
    ranges: BTreeMap<SlotRange, BTreeSet<SteerKey>>,
}

impl Held {
    /// Creates a state from entries without checks.
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a SteerKey, &'a SteerAction)>) -> Self {
        let mut held = Held::default();
        for (key, action) in entries {
            held.put(*key, adds(action));
        }
        held
    }

    /// Returns the state after the updates, in their order.
    ///
    /// # Errors
    /// The first entry that the chip would process wrongly, in words that name it and the fix.
    pub fn after(&self, updates: &[Update], numbering: &Numbering) -> Result<Held, String> {
        let mut held = self.clone();
        let mut touched = BTreeMap::new();
        for update in updates {
            let Entity::Row(row) = update.item.entity() else { continue };
            let Ok((key, action)) = Steer::entry(&row) else { continue };
            let adds = adds(&action).filter(|_| update.op != Op::Delete);
            held.put(key, None);
            touched.remove(&key);
            if let Some(adds) = adds {
                held.fits(&key, &adds).map_err(|why| format!("{row}: {why}"))?;
                held.put(key, Some(adds));
                touched.insert(key, row);
            }
        }
        touched.iter().try_for_each(|(key, row)| held.agrees(key, row, numbering))?;
        Ok(held)
    }

    /// Sets or removes the entry of a key.
    fn put(&mut self, key: SteerKey, adds: Option<Adds>) {
        if let Some(before) = self.rows.remove(&key)
            && let Some(keys) = self.ranges.get_mut(&before.slots)
        {
            keys.remove(&key);
            if keys.is_empty() {
                self.ranges.remove(&before.slots);
            }
        }
        if let Some(adds) = adds {
            self.rows.insert(key, adds);
            self.ranges.entry(adds.slots).or_default().insert(key);
        }
    }

    /// Returns the other entries of a slot range.
    fn others(&self, slots: SlotRange, key: SteerKey) -> impl Iterator<Item = (&SteerKey, &Adds)> {
        let keys = self.ranges.get(&slots).into_iter().flatten();
        keys.filter(move |other| **other != key).filter_map(|key| Some((key, self.rows.get(key)?)))
    }

    /// Checks that an entry cannot make a wrong sum, alone or with the others.
    fn fits(&self, key: &SteerKey, adds: &Adds) -> Result<(), String> {
        let Adds { slots, members, expected, .. } = adds;
        if !slots.len.is_power_of_two() || !slots.base.is_multiple_of(slots.len) {
            return Err(format!(
                "its slots begin at {}, which is not a multiple of their number {}: Tofino finds a slot by XOR; \
                 give the range another base",
                slots.base, slots.len
            ));
        }
        if members.bitmap & !expected.bitmap != 0 {
            return Err("some of its members are not expected: Tofino would add their frames repeatedly; \
                        expect all members"
                .to_owned());
        }
        let overlaps = |(other, theirs): &(&SteerKey, &Adds)| {
            sum(other, &theirs.members) == sum(key, members)
                && theirs.members.bitmap != members.bitmap
                && theirs.members.bitmap & members.bitmap != 0
        };
        match self.others(*slots, *key).find(overlaps) {
            None => Ok(()),
            Some((other, _)) => Err(format!(
                "it shares some members, not all, with {}: overlapping frames are distinguished by their \
                 sender only; give each worker one path",
                place(other)
            )),
        }
    }

    /// Checks that an entry agrees with the others of its sum.
    fn agrees(&self, key: &SteerKey, row: &Row, numbering: &Numbering) -> Result<(), String> {
        let Some(adds) = self.rows.get(key) else { return Ok(()) };
        let pipe = |key: &SteerKey| {
            numbering.pipe(key.ingress).map_or_else(|| "none".to_owned(), |pipe| pipe.to_string())
        };
        let sum = sum(key, &adds.members);
        let of_sum = |(other, theirs): &(&SteerKey, &Adds)| self::sum(other, &theirs.members) == sum;
        for (other, theirs) in self.others(adds.slots, *key).filter(of_sum) {
            if pipe(key) != pipe(other) {
                return Err(format!(
                    "{row}: its frames come in by pipe {}, others of its slots by pipe {} (port {}), and pipes \
                     share no registers: connect the workers of one sum to ports of one pipe",
                    pipe(key),
                    pipe(other),
                    other.ingress
                ));
            }
            if (adds.port, adds.expected) != (theirs.port, theirs.expected) {
                return Err(format!(
                    "{row}: it sends its sum elsewhere, or expects others, than {} with the same slots: give it \
                     slots of its own",
                    place(other)
                ));
            }
        }
        Ok(())
    }
}

/// Returns whether an update adds an entry that aggregates.
pub fn adds_any(updates: &[Update]) -> bool {
    updates.iter().filter(|update| update.op != Op::Delete).any(|update| match update.item.entity() {
        Entity::Row(row) => Steer::entry(&row).is_ok_and(|(_, action)| adds(&action).is_some()),
        Entity::Group(..) => false,
    })
}

/// Returns the identity of an entry's sum. Frames of another sum have another tag, and are never added to
/// this one.
fn sum(key: &SteerKey, members: &Contributors) -> impl PartialEq + use<> {
    (key.plan_version, key.job, key.shard, members.group)
}

fn adds(action: &SteerAction) -> Option<Adds> {
    match *action {
        SteerAction::Add { port, slots, members, expected } => Some(Adds { slots, port, members, expected }),
        _ => None,
    }
}

/// Describes an entry.
fn place(key: &SteerKey) -> String {
    format!("the entry of worker {} at port {} (epoch {})", key.worker, key.ingress, key.plan_version)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use inart_tables::{SwitchTables, diff};
    use inart_wire::BitmapIndex;

    use super::*;

    const ALIGNED: SlotRange = SlotRange { base: 64, len: 64 };

    fn bits(bitmap: u64) -> Contributors {
        Contributors { bitmap, ..Contributors::one(BitmapIndex::try_from(0u16).unwrap()) }
    }

    /// Entries of one range that aggregate: worker, ingress port, members. All expect workers 0 to 2.
    fn tables(slots: SlotRange, entries: &[(u16, u64, u64)]) -> SwitchTables {
        let mut tables = SwitchTables::default();
        for (worker, ingress, members) in entries {
            let key = SteerKey {
                plan_version: 1.into(),
                job: 1.into(),
                shard: 0.into(),
                worker: BitmapIndex::try_from(*worker).unwrap(),
                ingress: PortNo::try_from(*ingress).unwrap(),
            };
            let (port, members, expected) = (PortNo::nth(0).unwrap(), bits(*members), bits(7));
            tables.steer.insert(key, SteerAction::Add { port, slots, members, expected });
        }
        tables
    }

    fn inserts(slots: SlotRange, entries: &[(u16, u64, u64)]) -> Vec<Update> {
        diff(&SwitchTables::default(), &tables(slots, entries))
    }

    fn deletes(slots: SlotRange, entries: &[(u16, u64, u64)]) -> Vec<Update> {
        diff(&tables(slots, entries), &SwitchTables::default())
    }

    /// Returns the state after consecutive writes.
    fn written(writes: &[Vec<Update>]) -> Result<Held, String> {
        let rule = Numbering::default();
        writes.iter().try_fold(Held::default(), |held, updates| held.after(updates, &rule))
    }

    #[test]
    fn entries_that_the_chip_would_process_wrongly_are_refused() {
        assert_eq!(written(&[inserts(ALIGNED, &[(0, 2, 1), (1, 3, 6), (2, 3, 6)])]).err(), None);
        for (slots, entries, expected_text) in [
            (SlotRange { base: 32, len: 64 }, vec![(0, 2, 1)], "not a multiple of their number 64"),
            (ALIGNED, vec![(0, 2, 9)], "not expected"),
            (ALIGNED, vec![(0, 2, 1), (1, 64, 2)], "pipe 0, others of its slots by pipe 1 (port 64)"),
            (ALIGNED, vec![(0, 2, 3), (1, 3, 6)], "shares some members"),
        ] {
            let error = written(&[inserts(slots, &entries)]).expect_err(expected_text);
            assert!(error.contains(expected_text) && error.starts_with("steer["), "{error}");
        }
    }

    #[test]
    fn entries_that_conflict_across_two_writes_are_refused() {
        let first = [(0, 2, 1)];
        for (second, expected_text) in [
            ((1, 64, 2), "pipe 1, others of its slots by pipe 0 (port 2)"),
            ((1, 3, 3), "shares some members, not all, with the entry of worker 0 at port 2 (epoch 1)"),
        ] {
            let both = [inserts(ALIGNED, &first), inserts(ALIGNED, &[second])];
            assert_eq!(written(&both[1..]).err(), None, "correct alone");
            let error = written(&both).expect_err(expected_text);
            assert!(error.contains(expected_text), "{error}");
            // Accepted once the first is removed, by a write of its own or earlier in the same one.
            let gone = deletes(ALIGNED, &first);
            assert_eq!(written(&[both[0].clone(), gone.clone(), both[1].clone()]).err(), None);
            let one = [gone.clone(), both[1].clone()].concat();
            assert_eq!(written(&[both[0].clone(), one]).err(), None);
        }
        let mut elsewhere = tables(ALIGNED, &[(1, 3, 2)]);
        elsewhere.steer.values_mut().for_each(|action| {
            if let SteerAction::Add { port, .. } = action {
                *port = PortNo::nth(8).unwrap();
            }
        });
        let second = diff(&SwitchTables::default(), &elsewhere);
        let error = written(&[inserts(ALIGNED, &first), second]).expect_err("another port out");
        assert!(error.contains("sends its sum elsewhere"), "{error}");
    }

    /// During a migration, while a third plan version has no slots of its own.
    #[test]
    fn plan_versions_share_slots_on_any_paths() {
        let first = tables(ALIGNED, &[(0, 2, 1), (1, 3, 2)]);
        let mut second = tables(ALIGNED, &[(0, 64, 1), (1, 65, 2)]);
        second.steer = std::mem::take(&mut second.steer)
            .into_iter()
            .map(|(key, action)| match action {
                SteerAction::Add { slots, members, .. } => {
                    let expected = Contributors { bitmap: 0b11, ..members };
                    let action = SteerAction::Add { port: PortNo::nth(8).unwrap(), slots, members, expected };
                    (SteerKey { plan_version: 2.into(), ..key }, action)
                }
                other => (key, other),
            })
            .collect();
        let empty = SwitchTables::default();
        written(&[diff(&empty, &first), diff(&empty, &second)])
            .expect("no frame of one is added to the other");
    }

    #[test]
    fn entries_that_overlap_are_refused_even_if_one_is_removed_later() {
        let (first, second) = ([(0, 2, 3)], [(1, 3, 6)]);
        let order = [inserts(ALIGNED, &second), deletes(ALIGNED, &first)].concat();
        let error = written(&[inserts(ALIGNED, &first), order]).expect_err("they overlap");
        assert!(error.contains("shares some members"), "{error}");
        // From one pipe to another, which only stops a sum for a while.
        let (first, second) = ([(0, 2, 1)], [(0, 64, 1)]);
        let order = [inserts(ALIGNED, &second), deletes(ALIGNED, &first)].concat();
        assert_eq!(written(&[inserts(ALIGNED, &first), order]).err(), None);
    }

    #[test]
    fn rows_that_all_change_in_one_write_are_compared_in_their_final_state() {
        let before = tables(ALIGNED, &[(0, 2, 1), (1, 3, 2)]);
        let mut after = before.clone();
        after.steer.values_mut().for_each(|action| {
            if let SteerAction::Add { expected, .. } = action {
                *expected = bits(3);
            }
        });
        let held = written(&[diff(&SwitchTables::default(), &before)]).unwrap();
        let all = diff(&before, &after);
        assert_eq!(held.after(&all, &Numbering::default()).err(), None);
        let error = held.after(&all[..1], &Numbering::default()).expect_err("half of it");
        assert!(error.contains("expects others"), "{error}");
    }
}
