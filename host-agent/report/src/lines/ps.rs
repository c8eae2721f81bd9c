//! Lines of parameter servers and their workers, clients and groups.

use serde::{Deserialize, Serialize};

use super::aggregation::Trained;

/// An update that a worker computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerSent {
    /// SHA-256 of the update's bits as they arrive, in hexadecimal.
    pub sent: String,
    /// The worker's iteration.
    pub iteration: u64,
    /// Images that the update was computed from.
    pub batch: usize,
    /// The version that the update was computed from.
    pub base: u64,
    /// SHA-256 of that version's bits as they arrived, in hexadecimal.
    pub model: String,
    /// Start of the worker's computation of the update, in nanoseconds.
    pub began_ns: u64,
}

/// An update that arrived at a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pushed {
    /// SHA-256 of the update's bits, in hexadecimal.
    pub pushed: String,
    /// The worker's name.
    pub worker: String,
    /// The worker's iteration.
    pub iteration: u64,
    /// The version that the update was computed from.
    pub base: u64,
    /// Reason why the server refuses the update; `None` if it accepts it.
    pub refusal: Option<String>,
    /// The time, in nanoseconds.
    pub at_ns: u64,
}

/// Updates that a server applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The version that the model then has.
    pub applied: u64,
    /// SHA-256 of the model's bits, in hexadecimal; `None` if another version followed at once.
    pub model: Option<String>,
    /// Updates.
    pub updates: Vec<AppliedUpdate>,
    /// The time, in nanoseconds.
    pub at_ns: u64,
}

/// An update that a server applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedUpdate {
    /// The worker's name.
    pub worker: String,
    /// The worker's iteration.
    pub iteration: u64,
    /// Staleness of the update, in versions.
    pub staleness: u64,
    /// The factor of the update's values.
    pub scale: f64,
}

/// Counts of a process's connections; those of frames are 0 with QUIC.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionCounts {
    /// Connections that ended before their process.
    pub ended: u64,
    /// Connections or frames of processes that are not in the job.
    pub unknown_senders: u64,
    /// Packets and frames that cannot be decoded.
    pub malformed: u64,
    /// Frames that arrived again.
    pub repeated: u64,
    /// Frames that were sent again.
    pub sent_again: u64,
    /// Frames of an earlier connection.
    pub other_connection: u64,
}

/// The end of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PsServerEnd {
    /// The version of the model.
    pub version: u64,
    /// Share of test images that the model classifies correctly.
    pub accuracy: f64,
    /// Updates, or models of clients, that were applied.
    pub applied_updates: u64,
    /// Updates that were discarded, since their values were refused.
    pub refused: u64,
    /// Workers that were evicted.
    pub given_up: u64,
    /// Final r; `None` for a server of clients.
    pub relaxation: Option<f64>,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that had arrived before.
    pub repeated: u64,
    /// Packets that the server did not request.
    pub unasked: u64,
    /// Packets that cannot be decoded.
    pub malformed: u64,
    /// Packets for another incarnation.
    pub stale_incarnation: u64,
    /// Updates of another model.
    pub other_model: u64,
    /// Connections of processes that are not in the job.
    pub unknown_senders: u64,
    /// Counts of the connections.
    pub connections: ConnectionCounts,
    /// The version that the server resumed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_from_version: Option<u64>,
    /// Models of clients that arrived after their round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Rounds of clients that were repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_rounds: Option<u64>,
    /// Number of excluded models of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<u64>,
    /// Rounds without a judgment of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_unscored: Option<u64>,
    /// Names of the clients that were excluded because of their data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Vec<String>>,
}

/// The end of a worker or client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PsWorkerEnd {
    /// Iterations whose updates arrived.
    pub iterations: u64,
    /// The version of the model.
    pub version: u64,
    /// Chunks that were sent again.
    pub sent_again: u64,
    /// Packets that had arrived before.
    pub repeated: u64,
    /// Updates wasted because the server restarted or evicted the worker.
    pub superseded: u64,
    /// Updates wasted because the server no longer requested them.
    pub unasked: u64,
    /// Packets that cannot be decoded.
    pub malformed: u64,
    /// Packets for another incarnation.
    pub stale_incarnation: u64,
    /// Reason why the client was excluded; `None` if it was not.
    pub left_out: Option<String>,
    /// Counts of the connections.
    pub connections: ConnectionCounts,
}

/// End of a group's turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// The group, from 0.
    pub group: usize,
    /// Turn, from 0.
    pub turn: u64,
    /// Staleness of the sum, in versions.
    pub staleness: u64,
    /// SHA-256 of the server's part of the model, in hexadecimal.
    pub digest: String,
    /// The time, in nanoseconds.
    pub at_ns: u64,
}

/// The end of a worker of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupWorkerEnd {
    /// The group's job.
    pub job: String,
    /// The worker's rank in its group.
    pub rank: u16,
    /// Iterations that it ran.
    pub iterations: u32,
    /// Mean wait for the group's turn, in seconds.
    pub waiting_s: f64,
    /// Mean time of a push, in seconds.
    pub push_s: f64,
    /// Result of the training.
    pub trained: Trained,
}
