//! Status of state machines: pure queries for diagnosing a stalled job.
//!
//! Spans are seconds before the time of the query. The structs serialize to JSON.

use alloc::string::String;
use alloc::vec::Vec;

use inart_wire::{ChunkSeq, JobId, PlanVersion, Rank, ShardId};
use serde::{Deserialize, Serialize};

use crate::{ServerCounters, WorkerCounters};

/// Status of a worker: [`WorkerFlow::status`](crate::WorkerFlow::status).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Job number.
    pub job: JobId,
    /// Job name.
    pub job_name: String,
    /// The plan that steers the worker's frames.
    pub plan_version: PlanVersion,
    /// Rank.
    pub rank: Rank,
    /// Name.
    pub name: String,
    /// Current or last round, counted from 0: the tensor that was started last. `None` before the first.
    pub round: Option<u32>,
    /// Whether a round has not ended.
    pub in_round: bool,
    /// Flows by shard number.
    pub shards: Vec<FlowStatus>,
    /// Seconds for which it had something to send or to wait for, since the start.
    pub busy_seconds: f64,
    /// Bytes of a frame of the job.
    pub frame_bytes: usize,
    /// Counters since the start.
    pub counters: WorkerCounters,
    /// Reason why the job is over, in one line, if it is.
    pub failure: Option<String>,
}

/// A worker's chunks in flight to one parameter server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowStatus {
    /// Shard number.
    pub shard: ShardId,
    /// Name of its server.
    pub server: String,
    /// Chunks of the shard since the worker last had none in flight.
    pub chunks: u32,
    /// Chunks that were sent and have no result.
    pub in_flight: u32,
    /// The oldest chunk without a result, if it was sent.
    pub oldest: Option<PendingChunk>,
    /// Rate at which it sends now, in bits of Ethernet frames per second.
    pub rate_bps: f64,
    /// Planned rate, in bits of Ethernet frames per second.
    pub planned_rate_bps: f64,
    /// Smoothed round trip to the server, in seconds; `None` before the first.
    pub rtt_seconds: Option<f64>,
    /// Shortest round trip to the server since the last migration, in seconds; `None` before the first.
    pub least_rtt_seconds: Option<f64>,
    /// Seconds since the last frame of the server; `None` if it was never heard from.
    pub server_heard_seconds: Option<f64>,
}

/// A chunk that waits for its result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingChunk {
    /// Chunk of the shard, counted from 0 since the worker last had none in flight.
    pub chunk: u32,
    /// Sequence, as in the server's status.
    pub sequence: ChunkSeq,
    /// Seconds since it was sent last.
    pub sent_seconds: f64,
    /// Number of transmissions.
    pub sends: u32,
}

/// Status of a parameter server's shard: [`ServerShard::status`](crate::ServerShard::status).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Job number.
    pub job: JobId,
    /// Job name.
    pub job_name: String,
    /// The plan that steers the shard's frames.
    pub plan_version: PlanVersion,
    /// Shard number.
    pub shard: ShardId,
    /// Name of the server.
    pub server: String,
    /// Chunks completed since the start.
    pub completed: u64,
    /// Bytes of a frame of the job.
    pub frame_bytes: usize,
    /// Counters since the start.
    pub counters: ServerCounters,
    /// Chunks that some worker is in and another is not.
    pub in_flight: u32,
    /// The oldest of them.
    pub oldest: Option<OpenChunk>,
    /// Seconds since the worker's last frame, by rank; `None` if it was never heard from.
    pub heard_seconds: Vec<Option<f64>>,
    /// Reason why the job is over, in one line, if it is.
    pub failure: Option<String>,
}

/// A chunk that a server waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenChunk {
    /// Sequence.
    pub sequence: ChunkSeq,
    /// Seconds since the arrival of its first frame.
    pub open_seconds: f64,
    /// The workers that are not in its sum, by rank.
    pub missing: Vec<MissingWorker>,
}

/// A worker that is not in a chunk's sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingWorker {
    /// Rank.
    pub rank: Rank,
    /// Name.
    pub name: String,
    /// Seconds since its last frame; `None` if it was never heard from.
    pub heard_seconds: Option<f64>,
}
