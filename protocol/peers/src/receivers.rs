//! Who an update, or one chunk of it, is for.

use std::collections::BTreeMap;
use std::fmt;

use inart_wire::{Contributors, Group, Rank};

/// A set of ranks, by blocks of 64 as in frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receivers {
    /// Bitmaps by block; none is 0.
    blocks: BTreeMap<u8, u64>,
}

fn place(rank: Rank) -> (u8, u64) {
    let one = Contributors::one(rank.bitmap_index());
    (one.group.0, one.bitmap)
}

impl Receivers {
    /// That peer alone.
    pub fn one(rank: Rank) -> Self {
        Self::from_iter([rank])
    }

    /// The peers of one frame.
    pub fn of_block(block: Contributors) -> Self {
        Receivers {
            blocks: Some((block.group.0, block.bitmap)).filter(|block| block.1 != 0).into_iter().collect(),
        }
    }

    /// Adds a peer; whether it is new.
    pub fn insert(&mut self, rank: Rank) -> bool {
        let (block, bit) = place(rank);
        let bitmap = self.blocks.entry(block).or_default();
        let is_new = *bitmap & bit == 0;
        *bitmap |= bit;
        is_new
    }

    /// Takes a peer out; whether it was in.
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

    /// Whether a peer is in it.
    pub fn contains(&self, rank: Rank) -> bool {
        let (block, bit) = place(rank);
        self.blocks.get(&block).is_some_and(|bitmap| bitmap & bit != 0)
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        self.blocks.values().map(|bitmap| bitmap.count_ones() as usize).sum()
    }

    /// A bitmap per block that has anybody: one frame each.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Contributors> + '_ {
        self.blocks.iter().map(|(&group, &bitmap)| Contributors { bitmap, group: Group(group) })
    }

    /// Its peers, ascending.
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

/// As `{0-3,64}`.
impl fmt::Display for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs = crate::Ranges::default();
        self.iter().for_each(|rank| {
            runs.insert(u32::from(rank.get())..u32::from(rank.get()) + 1);
        });
        write!(f, "{{{runs}}}")
    }
}
