//! Status of a process of sites, of peers or of a parameter server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use serde::{Deserialize, Serialize};

use super::socket::StatusSocket;

/// Status of a process of sites, of peers or of a parameter server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessStatus {
    /// Name in the network's document.
    pub name: String,
    /// Role, such as `site` or `coordinator`.
    pub role: String,
    /// Rounds, iterations or model versions that the process has completed.
    pub progress: u64,
    /// Other processes that this one waits for.
    pub waits: Vec<ProcessWait>,
    /// Time for which the process's own training program has been computing, in seconds; `None` if it is not.
    pub computing_seconds: Option<f64>,
    /// Status of the process as the parameter server of workers with in-network aggregation, by job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<ServerStatus>,
}

/// A process that another one waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessWait {
    /// The awaited process's name.
    pub on: String,
    /// Reason, such as "no connection: connection refused".
    pub why: String,
    /// Waiting time in seconds.
    pub seconds: f64,
    /// Whether the two processes have no connection, so that the awaited one may not know of the wait.
    pub disconnected: bool,
}

/// Returns the workers that a parameter server waits for: those that its oldest open sum lacks, or without
/// one all of them. `workers`: their names by rank; `age`: of the status, in seconds.
pub fn awaited_workers(status: &ServerStatus, workers: &[String], age: f64) -> Vec<ProcessWait> {
    let wait = |name: &str, heard: Option<f64>, lacks: &str| {
        let why = match heard {
            Some(seconds) => format!("{lacks} (last message {:.0} s ago)", seconds + age),
            None => "it has not joined".to_owned(),
        };
        let seconds = status.oldest.as_ref().map_or(age, |open| open.open_seconds + age);
        ProcessWait { on: name.to_owned(), why, seconds, disconnected: heard.is_none() }
    };
    // A sum with all workers of this server may wait for others: then a later chunk has missing workers.
    match status.oldest.as_ref().filter(|open| !open.missing.is_empty()) {
        Some(open) => {
            let missing = open.missing.iter();
            let lacks = "its part of a sum has not arrived";
            missing.map(|missing| wait(&missing.name, missing.heard_seconds, lacks)).collect()
        }
        None => {
            let all = workers.iter().zip(&status.heard_seconds);
            all.map(|(name, heard)| wait(name, *heard, "it has not started its next gradient")).collect()
        }
    }
}

/// Status of a process of any system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyStatus {
    /// A worker with in-network aggregation.
    Worker(WorkerStatus),
    /// A parameter server of such workers.
    Server(ServerStatus),
    /// A process of another system.
    Process(ProcessStatus),
}

/// Publisher of a process's status. Without a socket no status is due or taken. Clones publish through the
/// same socket.
#[derive(Debug, Clone, Default)]
pub struct StatusPublisher(Arc<Mutex<Option<StatusSocket<AnyStatus>>>>);

impl StatusPublisher {
    fn socket(&self) -> MutexGuard<'_, Option<StatusSocket<AnyStatus>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes through this socket from now on.
    pub fn set(&self, socket: StatusSocket<AnyStatus>) {
        *self.socket() = Some(socket);
    }

    /// Returns whether a status should be [taken](Self::take).
    pub fn is_due(&self) -> bool {
        self.socket().as_ref().is_some_and(StatusSocket::is_due)
    }

    /// Takes a status.
    pub fn take(&self, status: ProcessStatus) {
        if let Some(socket) = &mut *self.socket() {
            socket.take(AnyStatus::Process(status));
        }
    }
}
