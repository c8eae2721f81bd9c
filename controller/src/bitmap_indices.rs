//! Bitmap indices of workers, in jobs with more workers than a bitmap has bits.
//!
//! A switch sums frames whose contributors share a block of 64. With ranks as indices, a group of 25
//! workers from all over the network would leave its switch as one frame per block, and the server would
//! get several times the planned load. So the plan assigns indices per shard: workers that are summed
//! together share a block.

use std::collections::BTreeMap;

use inart_planner_aggregation::Plan;
use inart_wire::{BitmapIndex, Group};

use crate::plan_error::PlanError;

/// Bits of a bitmap.
const BLOCK: usize = Group::BITMAP_INDICES as usize;

/// Returns the bitmap indices of every shard of `plan`, by rank; empty where every worker's index is its
/// rank.
///
/// # Errors
/// A job with more groups than the header can name.
pub fn of_plan(workers: &[&str], plan: &Plan) -> Result<Vec<Vec<BitmapIndex>>, PlanError> {
    if workers.len() <= BLOCK {
        return Ok(vec![Vec::new(); plan.shards.len()]);
    }
    let ranks: BTreeMap<&str, usize> = workers.iter().enumerate().map(|(rank, name)| (*name, rank)).collect();
    let of_shard = |server: &str| {
        let groups = plan
            .trunks
            .iter()
            .filter(|trunk| trunk.server == server && trunk.path.last() == Some(&trunk.server));
        let groups =
            groups.map(|trunk| trunk.workers.iter().filter_map(|name| ranks.get(name.as_str()).copied()));
        bitmap_index(workers.len(), groups.map(Iterator::collect).collect()).ok_or_else(|| {
            PlanError::BitmapIndices {
                job: plan.job.clone(),
                server: server.to_owned(),
                workers: workers.len(),
            }
        })
    };
    plan.shards.iter().map(|shard| of_shard(&shard.server)).collect()
}

/// Assigns indices first fit, the largest groups first; workers without a group fill the remaining indices.
/// Returns `None` if the indices do not suffice.
fn bitmap_index(workers: usize, mut groups: Vec<Vec<usize>>) -> Option<Vec<BitmapIndex>> {
    let mut bitmap_indices: Vec<Option<BitmapIndex>> = vec![None; workers];
    // Used indices per block, from the lowest up.
    let mut used: Vec<usize> = Vec::new();
    let mut sit = |members: &[usize], bitmap_indices: &mut [Option<BitmapIndex>]| -> Option<()> {
        let fitting = used.iter().position(|used| used + members.len() <= BLOCK);
        let block = fitting.unwrap_or(used.len());
        used.resize(used.len().max(block + 1), 0);
        for &rank in members {
            bitmap_indices[rank] = Some(BitmapIndex::try_from(block * BLOCK + used[block]).ok()?);
            used[block] += 1;
        }
        Some(())
    };
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    for part in groups.iter().flat_map(|group| group.chunks(BLOCK)) {
        sit(part, &mut bitmap_indices)?;
    }
    for rank in 0..workers {
        if bitmap_indices[rank].is_none() {
            sit(&[rank], &mut bitmap_indices)?;
        }
    }
    bitmap_indices.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_share_a_block_and_every_worker_has_its_own_bitmap_index() {
        // Forty groups of 25, interleaved, and sixteen workers without a group.
        let groups: Vec<Vec<usize>> =
            (0..40).map(|group| (0..25).map(|n| n * 40 + group).collect()).collect();
        let bitmap_indices = bitmap_index(1016, groups.clone()).expect("they fit");
        for group in groups {
            let block = bitmap_indices[group[0]].index() / BLOCK;
            assert!(group.iter().all(|&rank| bitmap_indices[rank].index() / BLOCK == block));
        }
        let mut used: Vec<_> = bitmap_indices.iter().map(|bitmap_index| bitmap_index.index()).collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 1016);
        assert_eq!(used.last(), Some(&(20 * BLOCK - 15)), "twenty blocks, two groups in each");
    }

    #[test]
    fn a_group_larger_than_a_block_uses_the_fewest_blocks() {
        let bitmap_indices =
            bitmap_index(200, vec![(0..150).collect(), (150..190).collect()]).expect("they fit");
        let mut blocks: Vec<_> =
            bitmap_indices[..150].iter().map(|bitmap_index| bitmap_index.index() / BLOCK).collect();
        blocks.dedup();
        assert_eq!(blocks, [0, 1, 2]);
        assert_eq!(
            bitmap_indices[150..190].iter().map(|bitmap_index| bitmap_index.index() / BLOCK).max(),
            Some(2)
        );
    }

    #[test]
    fn bitmap_indices_can_run_out() {
        let groups = (0..400).map(|group| (0..33).map(|n| group * 33 + n).collect()).collect();
        assert_eq!(bitmap_index(400 * 33, groups), None);
    }
}
