//! Arrays that keep their values when this switch's program takes the place of another one.

use std::ops::Range;

use super::Switch;
use super::kept::Kept;
use crate::tables::Cells;

impl Switch {
    /// Copies some cells of another switch's register to one of this switch. Programs and registers are
    /// those of a [`Kept`].
    pub(crate) fn copy_cells(&mut self, to: usize, other: &mut Switch, from: usize, cells: Range<usize>) {
        let (Some(old), Some(new)) = (&mut other.loaded, &mut self.loaded) else { return };
        let (from, to) = (&old.program.registers[from], &new.program.registers[to]);
        for cell in cells {
            let cell = cell as u64;
            if let Some(value) = old.tables.registers.get(from.group, from.lane, cell) {
                new.tables.registers.set(to.group, to.lane, cell, value);
            } else if let (Some(value), Some(place)) = (
                old.tables.registers.wide(from.group, from.lane, cell),
                new.tables.registers.wide(to.group, to.lane, cell),
            ) {
                place.copy_from_slice(value);
            }
        }
    }

    /// Moves the arrays that stay unchanged from the switch that this one is about to replace. Costs a few
    /// moves, for any number of cells.
    pub(crate) fn take_arrays(&mut self, other: &mut Switch, kept: &Kept) {
        let (Some(old), Some(new)) = (&mut other.loaded, &mut self.loaded) else { return };
        for &(from, to) in &kept.counters {
            std::mem::swap(&mut old.tables.counters[from], &mut new.tables.counters[to]);
        }
        for &(from, to) in &kept.meters {
            std::mem::swap(&mut old.tables.meters[from], &mut new.tables.meters[to]);
        }
        for &(from, to) in &kept.groups {
            let (old, new): (&mut Cells, &mut Cells) =
                (&mut old.tables.registers.groups[from], &mut new.tables.registers.groups[to]);
            std::mem::swap(old, new);
        }
    }
}
