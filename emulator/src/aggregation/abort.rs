//! A job that was aborted because of a fault: the end and the error of each host.

use inart_topologies::units::counted;
use std::fmt;

use serde::Serialize;

/// Longest time, in seconds, until every worker must have received the reason of the job's abort.
pub const MAX_ABORT_SECONDS: f64 = 3.0;

/// A job that was aborted because of a fault of the schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AbortReport {
    /// Hosts that were killed or stopped.
    pub culprits: Vec<String>,
    /// Rounds before the abort whose sums were correct.
    pub rounds_audited: u32,
    /// The other hosts, in the order in which they ended.
    pub ended: Vec<HostEnd>,
}

/// End of a host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostEnd {
    /// Name of the host.
    pub host: String,
    /// Whether it is a worker; servers notify their workers first.
    pub worker: bool,
    /// Seconds after the fault.
    pub seconds: f64,
    /// With which error.
    pub error: String,
    /// Whether the error names its cause.
    pub names_culprit: bool,
}

impl AbortReport {
    fn workers(&self) -> impl Iterator<Item = &HostEnd> {
        self.ended.iter().filter(|end| end.worker)
    }

    /// Seconds until the last worker had ended.
    pub fn seconds(&self) -> f64 {
        self.workers().map(|end| end.seconds).fold(0.0, f64::max)
    }

    /// Returns whether every worker got an error that names its cause, within [`MAX_ABORT_SECONDS`].
    pub fn is_orderly(&self) -> bool {
        self.seconds() <= MAX_ABORT_SECONDS && self.workers().all(|end| end.names_culprit)
    }
}

impl fmt::Display for AbortReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (culprits, workers) = (self.culprits.join(", "), self.workers().count());
        write!(
            f,
            "the job was aborted after {}, all sums right, because of {culprits}: {workers} \
             ended within {:.1} s",
            counted(self.rounds_audited, "round"),
            self.seconds(),
            workers = counted(workers, "other worker")
        )?;
        match self.workers().find(|end| !end.names_culprit) {
            None => write!(f, ", each with an error that names it")?,
            Some(end) => write!(f, ", but {} reported only: {}", end.host, end.error)?,
        }
        match self.workers().next() {
            Some(first) => write!(f, "; first {}: {}", first.host, first.error),
            None => Ok(()),
        }
    }
}
