//! A job that was given up because of a fault: who ended when, and with which error.

use std::fmt;

use serde::Serialize;

/// How long workers may take to hear that a job is given up, and why.
pub const PROMISE_SECONDS: f64 = 3.0;

/// A job that was given up because of a fault that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GivenUp {
    /// Hosts that were killed or stopped.
    pub culprits: Vec<String>,
    /// Rounds whose sums were found right before.
    pub rounds_audited: u32,
    /// The other hosts, in the order in which they ended.
    pub ended: Vec<HostEnd>,
}

/// How a host ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostEnd {
    /// Which.
    pub host: String,
    /// Whether it is a worker; servers tell their workers first.
    pub worker: bool,
    /// Seconds after the fault.
    pub seconds: f64,
    /// With which error.
    pub error: String,
    /// Whether the error names a culprit.
    pub names_culprit: bool,
}

impl GivenUp {
    fn workers(&self) -> impl Iterator<Item = &HostEnd> {
        self.ended.iter().filter(|end| end.worker)
    }

    /// Seconds until the last worker had ended.
    pub fn seconds(&self) -> f64 {
        self.workers().map(|end| end.seconds).fold(0.0, f64::max)
    }

    /// Whether it went as promised: every worker got an error that names a culprit, in time.
    pub fn is_as_promised(&self) -> bool {
        self.seconds() <= PROMISE_SECONDS && self.workers().all(|end| end.names_culprit)
    }
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (culprits, workers) = (self.culprits.join(", "), self.workers().count());
        write!(
            f,
            "the job was given up after {} rounds, all sums right, because of {culprits}: {workers} other workers \
             ended within {:.1} s",
            self.rounds_audited,
            self.seconds()
        )?;
        match self.workers().find(|end| !end.names_culprit) {
            None => write!(f, ", each with an error that names it")?,
            Some(end) => write!(f, ", but {} said only: {}", end.host, end.error)?,
        }
        match self.workers().next() {
            Some(first) => write!(f, "; first {}: {}", first.host, first.error),
            None => Ok(()),
        }
    }
}
