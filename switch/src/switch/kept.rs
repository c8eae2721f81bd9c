//! Arrays that keep their values when a program takes the place of another one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::program::{MeterInfo, Program, RegisterInfo};

/// The arrays that stay as they are when a program takes the place of another one that has them as well.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Positions in the old program and the new one.
    pub(super) counters: Vec<(usize, usize)>,
    pub(super) meters: Vec<(usize, usize)>,
    /// Whole groups of registers.
    pub(super) groups: Vec<(usize, usize)>,
    /// Registers that are in another group now: their cells must be copied.
    copied: Vec<(usize, usize)>,
}

/// Returns pairs of arrays with the same name and shape.
fn pairs<T>(
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> &str,
    alike: impl Fn(&T, &T) -> bool,
) -> Vec<(usize, usize)> {
    let known: HashMap<&str, usize> = old.iter().enumerate().map(|(at, array)| (name(array), at)).collect();
    let find = |(to, wanted): (usize, &T)| {
        let from = *known.get(name(wanted))?;
        alike(&old[from], wanted).then_some((from, to))
    };
    new.iter().enumerate().filter_map(find).collect()
}

impl Kept {
    /// Returns the arrays that two programs have in the same shape; of the registers only those named.
    pub fn of(old: &Program, new: &Program, registers: &BTreeSet<String>) -> Self {
        let counters = pairs(&old.counters, &new.counters, |array| &array.name, |a, b| a.size == b.size);
        let same = |a: &MeterInfo, b: &MeterInfo| (a.size, a.bytes) == (b.size, b.bytes);
        let meters = pairs(&old.meters, &new.meters, |array| &array.name, same);
        let same = |a: &RegisterInfo, b: &RegisterInfo| {
            (a.size, a.bits) == (b.size, b.bits) && registers.contains(&a.name)
        };
        let alike = pairs(&old.registers, &new.registers, |array| &array.name, same);
        // A group stays if all its registers do, and there were no others in it.
        let mut lanes: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
        for &(from, to) in &alike {
            lanes.entry(new.registers[to].group).or_default().push((from, to));
        }
        let whole = |(to, lanes): (u32, Vec<(usize, usize)>)| {
            let from = old.registers[lanes.first()?.0].group;
            let stays = |(a, b): &(usize, usize)| {
                let (a, b) = (&old.registers[*a], &new.registers[*b]);
                (a.group, a.lane) == (from, b.lane)
            };
            let (from, to) = (from as usize, to as usize);
            let count = lanes.len();
            let all = old.register_groups[from].lanes == count && new.register_groups[to].lanes == count;
            (all && lanes.iter().all(stays)).then_some((from, to))
        };
        let groups: Vec<_> = lanes.into_iter().filter_map(whole).collect();
        let moved: BTreeSet<_> = groups.iter().map(|(_, to)| *to).collect();
        let copied = alike.iter().copied();
        let copied = copied.filter(|(_, to)| !moved.contains(&(new.registers[*to].group as usize))).collect();
        Self { counters, meters, groups, copied }
    }

    /// Returns the registers to be copied, and the number of their cells.
    pub fn copied<'p>(&'p self, new: &'p Program) -> impl Iterator<Item = (usize, usize, usize)> + 'p {
        self.copied.iter().map(|&(from, to)| (from, to, new.registers[to].size))
    }
}
