//! The failure of a rank.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;
use serde::Serialize;

/// The failure of a rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankEnd {
    /// Name of its job.
    pub job: String,
    /// Rank of the process.
    pub rank: u16,
    /// Name of its worker.
    pub worker: String,
    /// Exit status, unless a signal ended the process.
    pub exit_status: Option<i32>,
    /// The signal that ended it, else.
    pub signal: Option<i32>,
    /// Line of its standard error that states the reason.
    pub said: String,
    /// A rank of the job that had ended well before, which the others may have missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_before: Option<String>,
}

impl RankEnd {
    /// Creates the end of a rank with this exit status.
    pub(crate) fn new(job: &str, rank: u16, worker: &str, status: ExitStatus, said: String) -> Self {
        let (job, worker) = (job.to_owned(), worker.to_owned());
        let (exit_status, signal) = (status.code(), status.signal());
        Self { job, rank, worker, exit_status, signal, said, left_before: None }
    }

    /// Adds that the rank failed after another rank had ended successfully.
    pub(crate) fn after(self, left_before: Option<String>) -> Self {
        Self { left_before, ..self }
    }
}

impl fmt::Display for RankEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} (worker {} of job {}) ", self.rank, self.worker, self.job)?;
        match (self.exit_status, self.signal) {
            (Some(status), _) => write!(f, "ended with exit status {status}")?,
            (None, Some(signal)) => match Signal::try_from(signal) {
                Ok(name) => write!(f, "was ended by {name}")?,
                Err(_) => write!(f, "was ended by signal {signal}")?,
            },
            (None, None) => write!(f, "ended")?,
        }
        write!(f, ": {}", self.said)?;
        match &self.left_before {
            Some(other) => write!(f, "; {other} had left before it with exit status 0"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_and_signals_are_distinguished() {
        let message =
            |status| RankEnd::new("digits", 3, "w4", ExitStatus::from_raw(status), "oh".into()).to_string();
        assert_eq!(message(0x0700), "rank 3 (worker w4 of job digits) ended with exit status 7: oh");
        let end = RankEnd::new("digits", 0, "w1", ExitStatus::from_raw(0x0100), "connection closed".into());
        assert_eq!(
            end.after(Some("rank 2 (worker w3)".into())).to_string(),
            "rank 0 (worker w1 of job digits) ended with exit status 1: connection closed; rank 2 (worker w3) had left \
             before it with exit status 0"
        );
        assert_eq!(message(9), "rank 3 (worker w4 of job digits) was ended by SIGKILL: oh");
    }
}
