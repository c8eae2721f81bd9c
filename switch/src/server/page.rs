//! One answer of bounded size, and where the next goes on.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};

use inart_p4runtime::p4::v1::Entity;
use prost::Message;
use tonic::Status;

use super::limits;

/// Place where the entities that one filter selects resume.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Position {
    #[default]
    Start,
    /// At a cell of one of several arrays.
    Cell(usize, usize),
    /// In one of several tables, after a key.
    Row(usize, Option<Vec<u8>>),
    /// After the ids of a profile and its member or group.
    Pair(u32, u32),
    /// After an id.
    Id(u32),
}

impl Position {
    fn cell(&self) -> (usize, usize) {
        if let Self::Cell(array, cell) = self { (*array, *cell) } else { (0, 0) }
    }

    /// Returns the table, and the key in it to go on after.
    pub fn row(self) -> (usize, Option<Vec<u8>>) {
        if let Self::Row(table, after) = self { (table, after) } else { (0, None) }
    }

    /// Returns the pair of ids to go on after.
    pub fn pair(&self) -> Option<(u32, u32)> {
        if let Self::Pair(profile, id) = self { Some((*profile, *id)) } else { None }
    }

    /// Returns the id to go on after.
    pub fn id(&self) -> Option<u32> {
        if let Self::Id(id) = self { Some(*id) } else { None }
    }
}

/// One answer in the making, of either server.
#[derive(Debug, Default)]
pub(crate) struct Page<E = Entity> {
    pub found: Vec<E>,
    bytes: usize,
    looked: usize,
}

impl<E: Message> Page<E> {
    /// Returns whether no more may be looked at for it.
    pub fn is_full(&self) -> bool {
        self.looked >= limits::PAGE || self.bytes >= limits::PAGE_BYTES
    }

    /// Counts examined entities, matching or not.
    pub fn look(&mut self, count: usize) {
        self.looked += count;
    }

    pub fn push(&mut self, entity: impl Into<E>) {
        let entity = entity.into();
        self.bytes += entity.encoded_len();
        self.found.push(entity);
    }

    /// Goes through the cells of an array from one on, a stride at a time. Returns the first cell of the next
    /// answer; `None` after the last cell.
    pub fn strides(
        &mut self,
        from: usize,
        cells: Range<usize>,
        mut read: impl FnMut(Range<usize>, &mut Self) -> Result<(), Status>,
    ) -> Result<Option<usize>, Status> {
        let mut from = cells.start.max(from);
        while from < cells.end {
            if self.is_full() {
                return Ok(Some(from));
            }
            let stride = from..cells.end.min(from + limits::STRIDE);
            self.look(stride.len());
            from = stride.end;
            read(stride, self)?;
        }
        Ok(None)
    }
}

impl Page {
    /// Goes through cells of arrays, a stride at a time.
    pub fn cells(
        &mut self,
        at: Position,
        arrays: &[Range<usize>],
        mut read: impl FnMut(usize, Range<usize>, &mut Self) -> Result<(), Status>,
    ) -> Result<Option<Position>, Status> {
        let (first, cell) = at.cell();
        for (array, cells) in arrays.iter().enumerate().skip(first) {
            let from = if array == first { cell } else { 0 };
            let next = self.strides(from, cells.clone(), |stride, page| read(array, stride, page))?;
            if let Some(cell) = next {
                return Ok(Some(Position::Cell(array, cell)));
            }
        }
        Ok(None)
    }

    /// Goes through entities in the order of their keys; gives the last key when there may be more.
    pub fn walk<K: Ord + Copy, V>(
        &mut self,
        held: &BTreeMap<K, V>,
        after: Option<K>,
        wanted: impl Fn(&V) -> bool,
        entity: impl Fn(&V) -> Entity,
    ) -> Option<K> {
        let mut last = after;
        for (key, one) in held.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)) {
            // A full page ends before this one; an empty one takes one at least.
            if self.is_full()
                && let Some(last) = last
            {
                return Some(last);
            }
            self.look(1);
            if wanted(one) {
                self.push(entity(one));
            }
            last = Some(*key);
        }
        None
    }
}
