//! Status of a worker.

use alloc::string::ToString;

use inart_wire::ShardId;

use super::WorkerFlow;
use super::shard::ShardFlow;
use crate::completion_rule::ContributionRule;
use crate::{FlowStatus, Instant, PendingChunk, ShardAssignment, WorkerStatus};

impl<P: ContributionRule> WorkerFlow<P> {
    /// Returns the status of this worker, and what it waits for.
    pub fn status(&self, now: Instant) -> WorkerStatus {
        let shards = self.flows.iter().zip(&self.assignment.shards).enumerate();
        WorkerStatus {
            job: self.assignment.job,
            job_name: self.assignment.name.clone(),
            plan_version: self.assignment.plan_version,
            rank: self.rank,
            name: self.assignment.workers[self.rank.index()].name.clone(),
            round: self.tensors.started().checked_sub(1).map(|round| round as u32),
            in_round: self.failure.is_none() && !self.is_idle(),
            shards: shards
                .map(|(shard, (flow, shard_assignment))| {
                    let shard =
                        ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
                    flow.status(now, shard, shard_assignment)
                })
                .collect(),
            busy_seconds: self.busy.total(now).as_secs_f64(),
            frame_bytes: self.assignment.values_per_frame.frame_bytes(),
            counters: self.counters,
            failure: self.failure.as_ref().map(|failure| failure.to_string()),
        }
    }
}

impl ShardFlow {
    fn status(&self, now: Instant, shard: ShardId, shard_assignment: &ShardAssignment) -> FlowStatus {
        let oldest = self.outstanding.iter().min().map(|chunk| (*chunk, self.entry(*chunk)));
        FlowStatus {
            shard,
            server: shard_assignment.server.clone(),
            chunks: (self.end - self.began) as u32,
            in_flight: self.outstanding.len() as u32,
            oldest: oldest.map(|(chunk, sent)| PendingChunk {
                chunk: chunk.saturating_sub(self.began) as u32,
                sequence: self.sequence(chunk),
                sent_seconds: now.since(sent.sent_at).as_secs_f64(),
                sends: sent.sends,
            }),
            rate_bps: self.rate.rate_bps(),
            planned_rate_bps: shard_assignment.rate_bps,
            rtt_seconds: self.rtt.smoothed().map(|time| time.as_secs_f64()),
            least_rtt_seconds: self.rtt.least().map(|time| time.as_secs_f64()),
            server_heard_seconds: self.last_heard.map(|at| now.since(at).as_secs_f64()),
        }
    }
}
