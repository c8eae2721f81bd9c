//! Chunks of the next round that arrive before the round begins.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::policy::{ChunkNo, SiteNo};
use crate::transfer::{ChunkTransfer, Direction};

/// Result of keeping an early chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// First copy of the chunk.
    First,
    /// Second copy by the same policy, which is dropped.
    Duplicate,
    /// Second copy by another policy: the copy by the older policy is dropped.
    OtherPolicy,
}

/// Early chunks: at most one per chunk, way and sender, so a neighbor that repeats itself takes no memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Early<S>(BTreeMap<(ChunkNo, Direction, SiteNo), ChunkTransfer<S>>);

impl<S> Default for Early<S> {
    fn default() -> Self {
        Early(BTreeMap::new())
    }
}

impl<S> Early<S> {
    /// Keeps a chunk until its round begins.
    pub fn keep(&mut self, transfer: ChunkTransfer<S>) -> Kept {
        match self.0.entry((transfer.chunk, transfer.direction, transfer.from)) {
            Entry::Vacant(place) => {
                place.insert(transfer);
                Kept::First
            }
            Entry::Occupied(held) if held.get().version == transfer.version => Kept::Duplicate,
            Entry::Occupied(mut held) => {
                if held.get().version < transfer.version {
                    held.insert(transfer);
                }
                Kept::OtherPolicy
            }
        }
    }

    /// Removes and returns all chunks.
    pub fn take(&mut self) -> impl Iterator<Item = ChunkTransfer<S>> + use<S> {
        std::mem::take(&mut self.0).into_values()
    }
}
