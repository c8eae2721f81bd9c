//! Lines of JSON that host processes print: one type for the processes that print them and for those that
//! read them.

mod aggregation;
mod peers;
mod ps;
mod sites;

use serde::{Deserialize, Serialize};

pub use aggregation::{Trained, WorkerEnd};
use inart_protocol_aggregation::ServerCounters;
pub use peers::{Averaged, Chosen, MulticastEnd, PeerEnd, PeerSent, Received};
pub use ps::{
    Applied, AppliedUpdate, ConnectionCounts, GroupWorkerEnd, PsServerEnd, PsWorkerEnd, Pushed, TurnEnd,
    WorkerSent,
};
pub use sites::{SiteEnd, SiteRound};

/// Longest line that a watcher reads, in bytes without its end.
pub const LINE_BYTES: usize = 1 << 20;
/// Characters of a line that an error shows.
const SHOWN_CHARACTERS: usize = 200;

/// An event of a host process, printed as one line of JSON with the key `event`. Times are in nanoseconds on
/// the clock of [`monotonic_ns`](crate::monotonic_ns).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// The end of a worker.
    WorkerEnded(WorkerEnd),
    /// The end of a server: its counts.
    ServerEnded(Box<ServerCounters>),

    /// The end of a round of a site.
    Round(SiteRound),
    /// The end of a site.
    SiteEnded(SiteEnd),
    /// A plan that a scheduler offered to sites.
    Offered {
        /// Plan version; the number that people see is `version >> 32`.
        version: u64,
        /// Number of trees of the plan.
        trees: usize,
    },

    /// An average of models, at a peer.
    Averaged(Averaged),
    /// An update that a peer computed.
    PeerSent(PeerSent),
    /// An update that arrived at a peer.
    Received(Received),
    /// The end of a multicast, at its sender.
    MulticastEnded(MulticastEnd),
    /// The end of a peer.
    PeerEnded(Box<PeerEnd>),
    /// A coordinator in charge.
    InCharge {
        /// The number of the coordinator's term.
        term: u64,
        /// Names of the peers that take part.
        peers: Vec<String>,
    },
    /// Receivers that a coordinator chose.
    Chosen(Chosen),
    /// A choice of receivers that failed.
    SelectionFailed {
        /// Reason.
        reason: String,
    },
    /// A peer with another job, which a coordinator refused.
    OtherJob {
        /// The peer's name.
        other_job: String,
    },

    /// A parameter server that resumed from its file.
    Resumed {
        /// File.
        resumed: String,
        /// The version of the model in the file.
        from_version: u64,
        /// Updates that were applied, or discarded, by then.
        updates: u64,
    },
    /// An update that a worker computed for a parameter server.
    WorkerSent(WorkerSent),
    /// An update that arrived at a parameter server.
    Pushed(Pushed),
    /// Updates that a parameter server applied.
    Applied(Applied),
    /// Start of a worker's pull.
    Pulls {
        /// The worker's name.
        pulls: String,
        /// The version that it pulls.
        version: u64,
        /// Time.
        at_ns: u64,
    },
    /// A worker that takes part.
    Joined {
        /// The worker's name.
        joined: String,
        /// Time.
        at_ns: u64,
    },
    /// A worker that the parameter server evicted.
    Gone {
        /// The worker's name.
        gone: String,
        /// Time.
        at_ns: u64,
    },
    /// A worker that the parameter server refused.
    Rejected {
        /// The worker's name.
        name: String,
        /// Reason.
        why: String,
    },
    /// Exclusion of a client because of its data.
    LeavesOut {
        /// The client's name.
        leaves_out: String,
        /// Time.
        at_ns: u64,
    },
    /// An update that the parameter server discarded.
    Discarded {
        /// The worker's name.
        discarded: String,
        /// The worker's iteration.
        iteration: u64,
        /// Reason.
        why: String,
    },
    /// The end of a parameter server.
    PsServerEnded(Box<PsServerEnd>),
    /// The end of a worker or client of a parameter server.
    PsWorkerEnded(Box<PsWorkerEnd>),

    /// A server of groups that workers can reach.
    Listening,
    /// Group whose workers have all computed.
    Ready {
        /// The group, from 0.
        group: usize,
        /// Time.
        at_ns: u64,
    },
    /// Start of a group's turn.
    Begins {
        /// The group, from 0.
        group: usize,
        /// Turn, from 0.
        turn: u64,
        /// Time.
        at_ns: u64,
    },
    /// End of a group's turn, whose sum is applied.
    Ends(TurnEnd),
    /// The end of a server of groups.
    Over {
        /// Frames of gradients that arrived, of all groups.
        frames: u64,
    },
    /// The end of a worker of a group.
    GroupWorkerEnded(GroupWorkerEnd),
}

/// A line that is not an event.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// A line above the bound.
    #[error("longer than {LINE_BYTES} bytes")]
    TooLong,
    /// Truncated line of a killed process.
    #[error("it ends too early")]
    Truncated,
    /// Text that is not JSON, an unknown event, or an event without a required key.
    #[error("{0}")]
    Malformed(String),
}

impl Line {
    /// Returns the line as JSON, without its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names, numbers and lists are JSON")
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// A line above [`LINE_BYTES`], the beginning of a line, text that is not JSON, an unknown event, or an
    /// event that lacks a key.
    pub fn read(text: &[u8]) -> Result<Self, LineError> {
        if text.len() > LINE_BYTES {
            return Err(LineError::TooLong);
        }
        serde_json::from_slice(text).map_err(|error| {
            if error.is_eof() {
                return LineError::Truncated;
            }
            let error = error.to_string();
            // serde names all events behind an unknown one.
            let problem = error.split_once(", expected one of ").map_or(&*error, |(problem, _)| problem);
            // The text is one line; its number is the caller's to name.
            let problem = problem.replace(" at line 1 column ", " at column ");
            LineError::Malformed(problem.replace("unknown variant", "unknown event"))
        })
    }
}

/// Returns a line for an error: quoted, and truncated to 200 characters.
pub fn shown(text: &[u8]) -> String {
    // A character takes up to four bytes.
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN_CHARACTERS)]);
    let cut: String = start.chars().take(SHOWN_CHARACTERS).collect();
    format!("{cut:?}")
}
