//! Receivers of an update, or of one of its chunks.

use std::collections::BTreeMap;
use std::fmt;

use inart_wire::{Contributors, Group, Rank};

/// A set of ranks, by blocks of 64 as in frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receivers {
    /// Bitmaps by block, none of them 0.
    blocks: BTreeMap<u8, u64>,
}

fn place(rank: Rank) -> (u8, u64) {
    let one = Contributors::one(rank.bitmap_index());
    (one.group.0, one.bitmap)
}

impl Receivers {
    /// Creates a set of one peer.
    pub fn one(rank: Rank) -> Self {
        Self::from_iter([rank])
    }

    /// Creates the set of one frame's receivers.
    pub fn of_block(block: Contributors) -> Self {
        Receivers {
            blocks: Some((block.group.0, block.bitmap)).filter(|block| block.1 != 0).into_iter().collect(),
        }
    }

    /// Adds a peer. Returns whether it is new.
    pub fn insert(&mut self, rank: Rank) -> bool {
        let (block, bit) = place(rank);
        let bitmap = self.blocks.entry(block).or_default();
        let is_new = *bitmap & bit == 0;
        *bitmap |= bit;
        is_new
    }

    /// Removes a peer. Returns whether the set had it.
    pub fn remove(&mut self, rank: Rank) -> bool {
        let (block, bit) = place(rank);
        let Some(bitmap) = self.blocks.get_mut(&block) else { return false };
        let was_in = *bitmap & bit != 0;
        *bitmap &= !bit;
        if *bitmap == 0 {
            self.blocks.remove(&block);
        }
        was_in
    }

    /// Returns whether the set has a peer.
    pub fn contains(&self, rank: Rank) -> bool {
        let (block, bit) = place(rank);
        self.blocks.get(&block).is_some_and(|bitmap| bitmap & bit != 0)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns how many peers the set has.
    pub fn len(&self) -> usize {
        self.blocks.values().map(|bitmap| bitmap.count_ones() as usize).sum()
    }

    /// Returns a bitmap per nonempty block: one frame each.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Contributors> + '_ {
        self.blocks.iter().map(|(&group, &bitmap)| Contributors { bitmap, group: Group(group) })
    }

    /// Returns the peers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Rank> + '_ {
        self.blocks()
            .flat_map(Contributors::bitmap_indices)
            .filter_map(|bitmap_index| Rank::try_from(bitmap_index.get()).ok())
    }
}

impl FromIterator<Rank> for Receivers {
    fn from_iter<I: IntoIterator<Item = Rank>>(ranks: I) -> Self {
        let mut receivers = Self::default();
        ranks.into_iter().for_each(|rank| {
            receivers.insert(rank);
        });
        receivers
    }
}

/// Formats the set as `{0-3,64}`.
impl fmt::Display for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs = crate::Ranges::default();
        self.iter().for_each(|rank| {
            runs.insert(u32::from(rank.get())..u32::from(rank.get()) + 1);
        });
        write!(f, "{{{runs}}}")
    }
}
