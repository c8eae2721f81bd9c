//! The bitmap indices of one shard's workers, and their cohorts.

use alloc::vec::Vec;

use inart_wire::{BitmapIndex, Contributors, Group, Rank, ShardId};

use crate::Assignment;

/// The bitmap indices of a shard's workers.
#[derive(Clone, Debug)]
pub(super) struct BitmapIndices {
    /// Bitmap index by rank.
    of_rank: Vec<BitmapIndex>,
    /// Rank by bitmap index, up to the highest used index; `None` if free.
    ranks: Vec<Option<Rank>>,
    /// Cohort by rank.
    cohorts: Vec<usize>,
    /// Members by cohort: one bitmap per group.
    members: Vec<Vec<u64>>,
}

impl BitmapIndices {
    /// Creates the bitmap indices of a shard of a valid assignment; `cohort` returns the cohort of a rank.
    pub(super) fn new(assignment: &Assignment, shard: ShardId, cohort: impl Fn(usize) -> usize) -> Self {
        let listed = &assignment.shards[shard.index()].bitmap_indices;
        let ranks = (0..assignment.workers.len())
            .map(|rank| Rank::try_from(rank).expect("a valid assignment has ranks for its workers"));
        let of_rank =
            if listed.is_empty() { ranks.clone().map(Rank::bitmap_index).collect() } else { listed.clone() };
        let last = of_rank.iter().copied().max().expect("a valid assignment has workers");
        let cohorts: Vec<_> = (0..assignment.workers.len()).map(cohort).collect();
        let count = cohorts.iter().max().map_or(0, |last| last + 1);
        let groups = Group::of(last).index() + 1;
        let mut bitmap_indices = Self {
            ranks: alloc::vec![None; last.index() + 1],
            members: alloc::vec![alloc::vec![0; groups]; count],
            of_rank,
            cohorts,
        };
        for (rank, bitmap_index) in ranks.zip(&bitmap_indices.of_rank) {
            let one = Contributors::one(*bitmap_index);
            bitmap_indices.members[bitmap_indices.cohorts[rank.index()]][one.group.index()] |= one.bitmap;
            bitmap_indices.ranks[bitmap_index.index()] = Some(rank);
        }
        bitmap_indices
    }

    /// Returns the members by cohort: one bitmap per group.
    pub(super) fn members(&self) -> &[Vec<u64>] {
        &self.members
    }

    /// The cohort of the worker of that rank.
    pub(super) fn cohort(&self, rank: Rank) -> usize {
        self.cohorts[rank.index()]
    }

    /// Returns whether every worker has an equal bitmap index in both.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        self.of_rank == other.of_rank
    }

    /// Returns by bitmap index the same worker's bitmap index in `other`; unspecified for free bitmap
    /// indices.
    pub(super) fn translated_to(&self, other: &Self) -> Vec<BitmapIndex> {
        let there = |rank: &Option<Rank>| rank.map_or(BitmapIndex::MAX, |rank| other.of(rank.index()));
        self.ranks.iter().map(there).collect()
    }

    /// Returns whether all `contributors` are in the cohort of the worker of that rank.
    pub(super) fn are_with(&self, rank: Rank, contributors: Contributors) -> bool {
        let members = &self.members[self.cohort(rank)];
        let bitmap = members.get(contributors.group.index()).copied().unwrap_or(0);
        contributors.bitmap & !bitmap == 0
    }

    /// Returns every rank.
    pub(super) fn all_ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        let workers = self.of_rank.len();
        (0..workers).map(|rank| Rank::try_from(rank).expect("a valid assignment has ranks for its workers"))
    }

    /// The bitmap index of a rank.
    pub(super) fn of(&self, rank: usize) -> BitmapIndex {
        self.of_rank[rank]
    }

    /// Returns the rank of the worker with a bitmap index; `None` if the bitmap index is free.
    pub(super) fn rank(&self, bitmap_index: BitmapIndex) -> Option<Rank> {
        self.ranks.get(bitmap_index.index()).copied().flatten()
    }
}

/// The bitmap indices of bitmaps, one per group, ascending.
pub(super) fn bitmap_indices_of(bitmaps: &[u64]) -> impl Iterator<Item = BitmapIndex> {
    (0..=u8::MAX)
        .map(Group)
        .zip(bitmaps)
        .flat_map(|(group, &bitmap)| Contributors { bitmap, group }.bitmap_indices())
}
