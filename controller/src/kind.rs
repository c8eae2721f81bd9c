//! Kinds of jobs on switches.

use std::fmt;

use inart_topologies::peers::FIRST_JOB;
use inart_wire::JobId;
use serde::Serialize;

/// Kind of a job on switches. The job's number says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// A job whose gradients switches sum.
    Aggregation,
    /// A job of peers whose updates switches copy.
    Peers,
}

impl JobKind {
    /// Returns the kind of the job with this number.
    pub fn of(job: JobId) -> Self {
        if job.get() >= FIRST_JOB { Self::Peers } else { Self::Aggregation }
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Aggregation => "aggregation",
            Self::Peers => "peers",
        })
    }
}
