//! Who sits where in one shard's bitmaps.

use alloc::vec::Vec;

use inart_wire::{Contributors, Group, ShardId, WorkerId};

use crate::Assignment;

/// The seats of a shard's workers.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    /// By rank.
    of_rank: Vec<WorkerId>,
    /// By seat; free ones up to the highest taken.
    ranks: Vec<Option<WorkerId>>,
    /// One bitmap per group.
    taken: Vec<u64>,
}

impl Seats {
    /// Those of a shard of a valid assignment.
    pub(super) fn new(assignment: &Assignment, shard: ShardId) -> Self {
        let listed = &assignment.shards[shard.index()].seats;
        let ranks = (0..assignment.workers.len())
            .map(|rank| WorkerId::try_from(rank).expect("a valid assignment has ranks for its workers"));
        let of_rank = if listed.is_empty() { ranks.clone().collect() } else { listed.clone() };
        let last = of_rank.iter().map(|seat| seat.index()).max().unwrap_or(0);
        let mut seats =
            Self { ranks: alloc::vec![None; last + 1], taken: alloc::vec![0; last / 64 + 1], of_rank };
        for (rank, seat) in ranks.zip(&seats.of_rank) {
            let one = Contributors::one(*seat);
            seats.taken[one.group.index()] |= one.bitmap;
            seats.ranks[seat.index()] = Some(rank);
        }
        seats
    }

    /// One bitmap per group.
    pub(super) fn taken(&self) -> &[u64] {
        &self.taken
    }

    /// Those taken in a group.
    pub(super) fn in_group(&self, group: Group) -> Contributors {
        Contributors { bitmap: self.taken.get(group.index()).copied().unwrap_or(0), group }
    }

    /// The seat of a rank.
    pub(super) fn of(&self, rank: usize) -> WorkerId {
        self.of_rank[rank]
    }

    /// The rank of the worker on a seat; `None` if the seat is free.
    pub(super) fn rank(&self, seat: WorkerId) -> Option<WorkerId> {
        self.ranks.get(seat.index()).copied().flatten()
    }
}
