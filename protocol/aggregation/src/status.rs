//! What a state machine is doing: pure queries for whoever asks why nothing moves.
//!
//! Spans are seconds before the time that the query was given. The structs serialise to JSON as they are.

use alloc::string::String;
use alloc::vec::Vec;

use inart_wire::{ChunkSeq, JobId, PlanVersion, Rank, ShardId};
use serde::{Deserialize, Serialize};

use crate::{ServerCounters, WorkerCounters};

/// What a worker is doing: [`WorkerFlow::status`](crate::WorkerFlow::status).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Job number.
    pub job: JobId,
    /// Job name.
    pub job_name: String,
    /// The plan that steers the worker's frames.
    pub plan_version: PlanVersion,
    /// Its rank.
    pub rank: Rank,
    /// Its name.
    pub name: String,
    /// The round it is in, or was in last, counted from 0: the tensor that it started last. `None` before the
    /// first.
    pub round: Option<u32>,
    /// Whether a round has not ended.
    pub in_round: bool,
    /// By shard number.
    pub shards: Vec<FlowStatus>,
    /// Seconds for which it had something to send or to wait for, since the start.
    pub busy_seconds: f64,
    /// Bytes of a frame of the job.
    pub frame_bytes: usize,
    /// What was counted since the start.
    pub counters: WorkerCounters,
    /// Why the job is over, in one line, if it is.
    pub failure: Option<String>,
}

/// A worker's chunks on their way to one parameter server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowStatus {
    /// Shard number.
    pub shard: ShardId,
    /// Name of its server.
    pub server: String,
    /// Chunks of the shard since the worker last had none under way.
    pub chunks: u32,
    /// Chunks that were sent and have no result.
    pub in_flight: u32,
    /// The oldest chunk without a result, if it was sent.
    pub oldest: Option<PendingChunk>,
    /// Rate at which it sends now, in bits of Ethernet frames per second.
    pub rate_bps: f64,
    /// Rate that the plan gave it, likewise.
    pub planned_rate_bps: f64,
    /// Smoothed round trip to the server, in seconds; `None` before the first.
    pub rtt_seconds: Option<f64>,
    /// The shortest round trip to the server since the last move, in seconds; `None` before the first.
    pub least_rtt_seconds: Option<f64>,
    /// Seconds since the server was last heard from; `None` if it never was.
    pub server_heard_seconds: Option<f64>,
}

/// A chunk that waits for its result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingChunk {
    /// Chunk of the shard, counted from 0 since the worker last had none under way.
    pub chunk: u32,
    /// Its sequence, by which the server knows it too.
    pub sequence: ChunkSeq,
    /// Seconds since it was sent last.
    pub sent_seconds: f64,
    /// How often it was sent.
    pub sends: u32,
}

/// What a parameter server is doing for a shard: [`ServerShard::status`](crate::ServerShard::status).
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
    /// What was counted since the start.
    pub counters: ServerCounters,
    /// Chunks that some worker is in and another is not.
    pub in_flight: u32,
    /// The oldest of them.
    pub oldest: Option<OpenChunk>,
    /// By rank: seconds since the worker was last heard from; `None` if it never was.
    pub heard_seconds: Vec<Option<f64>>,
    /// Why the job is over, in one line, if it is.
    pub failure: Option<String>,
}

/// A chunk that a server waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenChunk {
    /// Its sequence.
    pub sequence: ChunkSeq,
    /// Seconds since its first frame came.
    pub open_seconds: f64,
    /// The workers that are not in its sum, by rank.
    pub missing: Vec<MissingWorker>,
}

/// A worker that is not in a chunk's sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingWorker {
    /// Its rank.
    pub rank: Rank,
    /// Its name.
    pub name: String,
    /// Seconds since it was last heard from; `None` if it never was.
    pub heard_seconds: Option<f64>,
}
