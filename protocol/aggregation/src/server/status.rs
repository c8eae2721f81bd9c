//! Status of a parameter server.

use alloc::string::ToString;

use inart_wire::Rank;

use super::ServerShard;
use super::stream::Stream;
use crate::completion_rule::CompletionRule;
use crate::{Instant, MissingWorker, OpenChunk, ServerStatus};

impl<P: CompletionRule> ServerShard<P> {
    /// Returns the status of this server, and which workers it waits for.
    pub fn status<'a>(&'a self, now: Instant) -> ServerStatus {
        let shard_assignment = &self.assignment.shards[self.shard.index()];
        let name = |rank: Rank| self.assignment.workers[rank.index()].name.as_str();
        let heard = |rank: Rank| self.last_heard[rank.index()].map(|at| now.since(at).as_secs_f64());
        let missing = |rank| MissingWorker { rank, name: name(rank).into(), heard_seconds: heard(rank) };
        let of_stream = |stream: &'a Stream<P::Reduction>| {
            let ages = stream.open_chunks().map(|chunk| (chunk.sequence.since(stream.oldest), chunk));
            ages.min_by_key(|(age, _)| *age)
        };
        let oldest = self.streams.iter().filter_map(of_stream).min_by_key(|(age, _)| *age);
        ServerStatus {
            job: self.assignment.job,
            job_name: self.assignment.name.clone(),
            plan_version: self.assignment.plan_version,
            shard: self.shard,
            server: shard_assignment.server.clone(),
            completed: self.counters.chunks,
            frame_bytes: self.assignment.values_per_frame.frame_bytes(),
            counters: self.counters,
            in_flight: self.streams.iter().map(|stream| stream.open_chunks().count() as u32).sum(),
            oldest: oldest.map(|(_, chunk)| OpenChunk {
                sequence: chunk.sequence,
                open_seconds: now.since(chunk.opened).as_secs_f64(),
                missing: chunk.missing().map(|bitmap_index| missing(self.rank(bitmap_index))).collect(),
            }),
            heard_seconds: (0..self.assignment.workers.len())
                .map(|rank| self.last_heard[rank].map(|at| now.since(at).as_secs_f64()))
                .collect(),
            failure: self.failure().map(|failure| failure.to_string()),
        }
    }
}
