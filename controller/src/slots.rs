//! Free slots of a switch. A slot range belongs to one (job, shard, block of ranks, plan version) on one
//! switch; ranges of live plan versions never overlap (invariant 3, *own slot*).
//!
//! The map keeps no owners: the `add` entries of a switch do. Free slots always follow from the entries
//! that were read back, and leaving out a range frees it.

use std::collections::BTreeMap;

use inart_tables::SlotRange;

/// Free slots of one switch, as disjoint runs with gaps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotMap {
    free: BTreeMap<u32, u32>,
}

impl SlotMap {
    /// Creates the map of a switch with `slots` free slots.
    pub fn new(slots: u32) -> Self {
        SlotMap { free: BTreeMap::from_iter((slots > 0).then_some((0, slots))) }
    }

    /// Returns the number of free slots.
    pub fn available(&self) -> u32 {
        self.free.values().sum()
    }

    /// Returns whether all of `range` is free.
    pub fn is_free(&self, range: SlotRange) -> bool {
        let run = self.free.range(..=range.base).next_back();
        run.is_some_and(|(&start, &len)| {
            u64::from(range.base) + u64::from(range.len) <= u64::from(start) + u64::from(len)
        })
    }

    /// Allocates the lowest free run of `len` slots (a power of two) that starts at a multiple of `len`, so
    /// that windows of different sizes do not fragment the space. Returns `None` without such a run.
    pub fn allocate(&mut self, len: u32) -> Option<SlotRange> {
        if len == 0 {
            return None;
        }
        let base = self.free.iter().find_map(|(&start, &run)| {
            let base = start.checked_next_multiple_of(len)?;
            (base - start <= run && run - (base - start) >= len).then_some(base)
        })?;
        let range = SlotRange { base, len };
        self.reserve(range);
        Some(range)
    }

    /// Marks `range` as used. Used slots stay used, and slots beyond the switch's are ignored.
    pub fn reserve(&mut self, range: SlotRange) {
        let (first, end) = (u64::from(range.base), u64::from(range.base) + u64::from(range.len));
        let hit: Vec<(u32, u32)> = self
            .free
            .iter()
            .map(|(&start, &run)| (start, run))
            .filter(|&(start, run)| range.overlaps(&SlotRange { base: start, len: run }))
            .collect();
        for (start, run) in hit {
            self.free.remove(&start);
            let run_end = u64::from(start) + u64::from(run);
            if u64::from(start) < first {
                self.free.insert(start, range.base - start);
            }
            if end < run_end {
                // `end` < `run_end` <= 2^32 - 1 + 1, so both fit.
                self.free.insert(end as u32, (run_end - end) as u32);
            }
        }
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
