//! Reasons why a job ends without its sum.

use alloc::string::String;
use core::time::Duration;

use inart_wire::{AbortReason, MacAddr, Rank, ShardId, ShortText};
use thiserror::Error;

use crate::Assignment;

/// Reason why a job ends without its sum; every host of the job ends with one of these.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// Gradient of this worker that cannot be summed.
    #[error("value {index} of this worker's gradient is {value}: only finite values can be summed")]
    NotFinite {
        /// Index in the gradient.
        index: usize,
        /// Value.
        value: f32,
    },
    /// A worker is the cause of the end.
    #[error("the job was aborted: worker {culprit} ({name}) {reason}")]
    Aborted {
        /// Rank.
        culprit: Rank,
        /// Name.
        name: String,
        /// Reason.
        reason: AbortReason,
    },
    /// The job is part of a larger one, which has ended elsewhere.
    #[error("the job was aborted: {reason}")]
    Elsewhere {
        /// Culprit and action there.
        reason: ShortText,
    },
    /// Different tensors started in the same position by the culprit and its peers.
    #[error(
        "the job was aborted: worker {culprit} ({name}) and its peers started different tensors as {}{}; sums \
         from tensor {first} on may be of different tensors: start the same tensors in the same order at all \
         workers, also after an exception",
        tensors(*first, *last),
        if own.is_empty() { String::new() } else { alloc::format!(" (here {own})") }
    )]
    OtherTensors {
        /// Rank.
        culprit: Rank,
        /// Name.
        name: String,
        /// The tensor after the last one that is known to be the same at both, counted from 0.
        first: u32,
        /// The last tensor that may be the first different one.
        last: u32,
        /// This worker's tensors of that range, in words; empty at a server.
        own: String,
    },
    /// Parameter server that does not answer another worker.
    #[error(
        "the job was aborted: parameter server {server} (shard {shard}) is silent to worker {worker} ({name})"
    )]
    ServerLost {
        /// Shard.
        shard: ShardId,
        /// Name.
        server: String,
        /// Rank of the worker.
        worker: Rank,
        /// Name of the worker.
        name: String,
    },
    /// A parameter server was restarted and has lost the results that it had sent.
    #[error(
        "the job was aborted: parameter server {server} (shard {shard}) was restarted and has lost its sums, or runs \
         twice; start each server once"
    )]
    ServerRestarted {
        /// Shard.
        shard: ShardId,
        /// Name.
        server: String,
    },
    /// Another address for this worker in the parameter servers' assignment. The job of the worker at that
    /// address continues.
    #[error(
        "worker {worker} ({name}) is {expected} in the parameter servers' assignment, and {mac} in this one: it runs \
         twice, or has another plan; start each worker once, and all hosts by one plan"
    )]
    OtherAddress {
        /// Rank.
        worker: Rank,
        /// Name.
        name: String,
        /// Address in the servers' assignment.
        expected: MacAddr,
        /// Address of this host.
        mac: MacAddr,
    },
    /// A parameter server does not answer this worker.
    #[error("no frame from parameter server {server} (shard {shard}) for {} s", peer_timeout.as_secs_f64())]
    ServerSilent {
        /// Shard.
        shard: ShardId,
        /// Name.
        server: String,
        /// Time that this worker waited.
        peer_timeout: Duration,
    },
}

/// The tensors from `first` to `last`, in words.
fn tensors(first: u32, last: u32) -> String {
    if first == last {
        alloc::format!("tensor {last}")
    } else {
        alloc::format!("one of the tensors {first} to {last}")
    }
}

impl Failure {
    /// Creates the failure for an abort message.
    pub(crate) fn aborted(assignment: &Assignment, reason: AbortReason, culprit: Rank) -> Self {
        let worker = assignment.worker(culprit);
        let name = worker.as_ref().map_or("unknown", |worker| &worker.name).into();
        let server = |shard| assignment.shard(shard).map_or("unknown", |shard| &shard.server).into();
        match reason {
            AbortReason::ServerLost(shard) => {
                Self::ServerLost { shard, server: server(shard), worker: culprit, name }
            }
            AbortReason::Elsewhere(reason) => Self::Elsewhere { reason },
            AbortReason::OtherTensors { first, last } => {
                Self::OtherTensors { culprit, name, first, last, own: String::new() }
            }
            AbortReason::OtherAddress(expected) => {
                let mac = worker.map_or(expected, |worker| worker.mac);
                Self::OtherAddress { worker: culprit, name, expected, mac }
            }
            AbortReason::ServerRestarted(shard) => Self::ServerRestarted { shard, server: server(shard) },
            _ => Self::Aborted { culprit, name, reason },
        }
    }
}
