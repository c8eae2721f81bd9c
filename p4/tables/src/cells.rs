//! Typed values as the numbers of key fields and action parameters.

use inart_wire::{BitmapIndex, Contributors, Group, JobId, MacAddr, PlanVersion, ShardId};

use crate::numbers::{GroupId, PortNo, SlotRange};
use crate::spec::Field;

/// A row's key, for values whose meaning depends on it.
#[derive(Debug, Clone, Copy)]
pub struct KeyCells<'a> {
    fields: &'static [Field],
    cells: &'a [u64],
}

impl<'a> KeyCells<'a> {
    /// Returns the cells of these fields.
    pub fn new(fields: &'static [Field], cells: &'a [u64]) -> Self {
        KeyCells { fields, cells }
    }

    /// Returns the number in a field of the key.
    pub fn get(&self, name: &str) -> Option<u64> {
        let place = self.fields.iter().position(|field| field.name == name)?;
        self.cells.get(place).copied()
    }
}

/// A value that takes one or more cells of a row.
pub trait Cells: Sized {
    /// Whether its cells are numbers of ports.
    const PORT: bool = false;

    /// Appends its cells.
    fn put(&self, cells: &mut Vec<u64>);

    /// Takes its cells; `None` if they are no such value. `key` is that of the row.
    fn take(cells: &mut dyn Iterator<Item = u64>, key: &KeyCells<'_>) -> Option<Self>;
}

macro_rules! ids {
    ($($id:ident),*) => {$(
        impl Cells for $id {
            fn put(&self, cells: &mut Vec<u64>) {
                cells.push(u64::from(self.get()));
            }

            fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
                $id::try_from(u16::try_from(cells.next()?).ok()?).ok()
            }
        }
    )*};
}
ids!(PlanVersion, JobId, ShardId, BitmapIndex);

impl Cells for PortNo {
    const PORT: bool = true;

    fn put(&self, cells: &mut Vec<u64>) {
        cells.push(u64::from(self.get()));
    }

    fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
        PortNo::try_from(cells.next()?).ok()
    }
}

impl Cells for GroupId {
    fn put(&self, cells: &mut Vec<u64>) {
        cells.push(u64::from(self.0));
    }

    fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
        u16::try_from(cells.next()?).ok().map(GroupId)
    }
}

impl Cells for MacAddr {
    fn put(&self, cells: &mut Vec<u64>) {
        cells.push(self.0.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
    }

    fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
        let [0, 0, address @ ..] = cells.next()?.to_be_bytes() else { return None };
        Some(MacAddr(address))
    }
}

/// The first slot, and the mask of sequence numbers: the length less 1.
impl Cells for SlotRange {
    fn put(&self, cells: &mut Vec<u64>) {
        cells.extend([self.base, self.len.saturating_sub(1)].map(u64::from));
    }

    fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
        let base = u32::try_from(cells.next()?).ok()?;
        let len = u32::try_from(cells.next()?.checked_add(1)?).ok()?;
        Some(SlotRange { base, len })
    }
}

impl Cells for Group {
    fn put(&self, cells: &mut Vec<u64>) {
        cells.push(u64::from(self.0));
    }

    fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
        u8::try_from(cells.next()?).ok().map(Group)
    }
}

/// The bitmap, relative to the block of 64 that the key names, or that the key's worker is in.
impl Cells for Contributors {
    fn put(&self, cells: &mut Vec<u64>) {
        cells.push(self.bitmap);
    }

    fn take(cells: &mut dyn Iterator<Item = u64>, key: &KeyCells<'_>) -> Option<Self> {
        let bitmap = cells.next()?;
        if let Some(group) = key.get("group") {
            return Some(Contributors { bitmap, group: Group(u8::try_from(group).ok()?) });
        }
        let worker = BitmapIndex::try_from(u16::try_from(key.get("worker")?).ok()?).ok()?;
        Some(Contributors { bitmap, ..Contributors::one(worker) })
    }
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Cells for $number {
            fn put(&self, cells: &mut Vec<u64>) {
                cells.push(u64::from(*self));
            }

            fn take(cells: &mut dyn Iterator<Item = u64>, _: &KeyCells<'_>) -> Option<Self> {
                cells.next()?.try_into().ok()
            }
        }
    )*};
}
plain!(u8, u16, u32, u64);
