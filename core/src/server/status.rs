//! What a parameter server is doing.

use alloc::string::ToString;

use inart_wire::WorkerId;

use super::{ServerShard, chunk::Chunk};
use crate::{Instant, MissingWorker, OpenChunk, ServerStatus};

impl ServerShard {
    /// What this server is doing, and whom it waits for.
    pub fn status(&self, now: Instant) -> ServerStatus {
        let told = &self.assignment.shards[self.shard.index()];
        let name = |rank: WorkerId| self.assignment.workers[rank.index()].name.as_str();
        let heard = |rank: WorkerId| self.last_heard[rank.index()].map(|at| now.since(at).as_secs_f64());
        let missing = |rank| MissingWorker { rank, name: name(rank).into(), heard_seconds: heard(rank) };
        ServerStatus {
            job: self.assignment.job,
            job_name: self.assignment.name.clone(),
            epoch: self.assignment.epoch,
            shard: self.shard,
            server: told.server.clone(),
            completed: self.counters.chunks,
            in_flight: self.open_chunks().count() as u32,
            oldest: self.open_chunks().min_by_key(|chunk| chunk.sequence.since(self.oldest)).map(|chunk| {
                OpenChunk {
                    sequence: chunk.sequence,
                    open_seconds: now.since(chunk.opened).as_secs_f64(),
                    missing: chunk.missing().map(|seat| missing(self.rank(seat))).collect(),
                }
            }),
            heard_seconds: (0..self.assignment.workers.len())
                .map(|rank| self.last_heard[rank].map(|at| now.since(at).as_secs_f64()))
                .collect(),
            failure: self.failure().map(|failure| failure.to_string()),
        }
    }

    /// The chunks that some worker is in and another is not, in any order.
    pub(super) fn open_chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().flatten().filter(|chunk| chunk.completed_by.is_none())
    }
}
