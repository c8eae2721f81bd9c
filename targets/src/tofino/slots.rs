//! What the chip needs of entries that add, beyond what the tables say: its registers are read once per
//! frame, in one pipe, by a slot that is made without an adder.

use std::collections::BTreeMap;

use inart_tables::{Entity, Op, Steer, SteerAction, SteerKey, Table, Update};
use inart_wire::Contributors;

use super::ports;

/// One entry that adds.
struct Adds {
    key: SteerKey,
    port: inart_tables::PortNo,
    members: Contributors,
    expected: Contributors,
}

/// Refuses updates that the chip would get wrong, in words that name the entry and the fix.
pub fn check(updates: &[Update]) -> Result<(), String> {
    let mut ranges: BTreeMap<(u32, u32), Vec<Adds>> = BTreeMap::new();
    for update in updates.iter().filter(|update| update.op != Op::Delete) {
        let Entity::Row(row) = update.item.entity() else { continue };
        let Ok((key, SteerAction::Add { port, slots, members, expected })) = Steer::entry(&row) else {
            continue;
        };
        if !slots.len.is_power_of_two() || !slots.base.is_multiple_of(slots.len) {
            return Err(format!(
                "{row}: its slots begin at {}, which is no multiple of their number {}: Tofino finds a slot by \
                 XOR; give the range another base",
                slots.base, slots.len
            ));
        }
        if members.bitmap & !expected.bitmap != 0 {
            return Err(format!(
                "{row}: some of its members are not expected: Tofino would add their frames again and again; \
                 expect all members"
            ));
        }
        let adds = Adds { key, port, members, expected };
        let others = ranges.entry((slots.base, slots.len)).or_default();
        if let Some(other) = others.first() {
            same_slots(other, &adds).map_err(|why| format!("{row}: {why}"))?;
        }
        let overlaps = |other: &&Adds| {
            other.members.bitmap != adds.members.bitmap && other.members.bitmap & adds.members.bitmap != 0
        };
        if let Some(other) = others.iter().find(overlaps) {
            return Err(format!(
                "{row}: it shares some members, not all, with the entry of worker {} at port {}: frames that \
                 overlap are told apart by their sender only; give each worker one way in",
                other.key.worker, other.key.ingress
            ));
        }
        others.push(adds);
    }
    Ok(())
}

/// Two entries of one slot range.
fn same_slots(other: &Adds, adds: &Adds) -> Result<(), String> {
    let (mine, theirs) = (ports::pipe(adds.key.ingress), ports::pipe(other.key.ingress));
    if mine != theirs {
        return Err(format!(
            "its frames come in by pipe {mine}, others of its slots by pipe {theirs} (port {}), and pipes share no \
             registers: connect the workers of one sum to ports of one pipe",
            other.key.ingress
        ));
    }
    match (adds.port, adds.expected) == (other.port, other.expected) {
        true => Ok(()),
        false => Err(format!(
            "it sends its sum elsewhere, or expects others, than the entry of worker {} at port {} with the same \
             slots: give it slots of its own",
            other.key.worker, other.key.ingress
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use inart_tables::{PortNo, SlotRange, SwitchTables, diff};
    use inart_wire::Seat;

    use super::*;

    fn bits(bitmap: u64) -> Contributors {
        Contributors { bitmap, ..Contributors::one(Seat::try_from(0u16).unwrap()) }
    }

    /// Entries of one range that add: worker, port in, members.
    fn refused(slots: SlotRange, expected: u64, entries: &[(u16, u64, u64)]) -> Option<String> {
        let mut tables = SwitchTables::default();
        for (worker, ingress, members) in entries {
            let key = SteerKey {
                epoch: 1.into(),
                job: 1.into(),
                shard: 0.into(),
                worker: Seat::try_from(*worker).unwrap(),
                ingress: PortNo::try_from(*ingress).unwrap(),
            };
            let (port, members, expected) = (PortNo::nth(0).unwrap(), bits(*members), bits(expected));
            tables.steer.insert(key, SteerAction::Add { port, slots, members, expected });
        }
        check(&diff(&SwitchTables::default(), &tables)).err()
    }

    #[test]
    fn what_the_chip_would_get_wrong_is_refused() {
        let aligned = SlotRange { base: 64, len: 64 };
        assert_eq!(refused(aligned, 7, &[(0, 2, 1), (1, 3, 6), (2, 3, 6)]), None);
        for (slots, entries, told) in [
            (SlotRange { base: 32, len: 64 }, vec![(0, 2, 1)], "no multiple of their number 64"),
            (aligned, vec![(0, 2, 9)], "not expected"),
            (aligned, vec![(0, 2, 1), (1, 64, 2)], "pipe 1, others of its slots by pipe 0 (port 2)"),
            (aligned, vec![(0, 2, 3), (1, 3, 6)], "shares some members"),
        ] {
            let error = refused(slots, 7, &entries).expect(told);
            assert!(error.contains(told) && error.starts_with("steer["), "{error}");
        }
    }
}
