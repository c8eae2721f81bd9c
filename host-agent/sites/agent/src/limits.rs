//! Lengths of messages.

use crate::gradient::ChunkSum;
use crate::setup::Setup;
use crate::state::PART_BYTES;

/// Room in a message for all but its longest field, in bytes.
const ROOM: u64 = 64 << 10;
/// Longest number in a message, in bytes.
const NUMBER: u64 = 5;

/// Returns the length of the longest message between a job's sites, in bytes: a chunk, a part of a state with
/// a plan, or a request for all chunks. A plan has at most one tree per chunk, one route per pair of sites,
/// and as many auxiliary paths.
pub fn most_bytes(setup: &Setup) -> u64 {
    let (chunks, sites) = (setup.chunk_values.len() as u64, setup.names.len() as u64);
    let trees = chunks.min(sites * sites) * (2 * sites + 4);
    let routes = 8 * sites * sites * (sites + 2);
    let plan = NUMBER * (chunks + trees + routes);
    let longest = setup.chunk_values.iter().copied().max().unwrap_or(0);
    ChunkSum::most_bytes(longest).max(PART_BYTES as u64 + plan) + ROOM
}
