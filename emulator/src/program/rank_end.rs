//! How a rank failed.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;
use serde::Serialize;

/// How a rank failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankEnd {
    /// Name of its job.
    pub job: String,
    /// Which rank.
    pub rank: u16,
    /// Name of its worker.
    pub worker: String,
    /// Its exit status, if it ended by itself.
    pub exit_status: Option<i32>,
    /// The signal that ended it, else.
    pub signal: Option<i32>,
    /// The last line of its standard error.
    pub said: String,
}

impl RankEnd {
    /// Of a rank that ended so.
    pub(crate) fn new(job: &str, rank: u16, worker: &str, status: ExitStatus, said: String) -> Self {
        let (job, worker) = (job.to_owned(), worker.to_owned());
        Self { job, rank, worker, exit_status: status.code(), signal: status.signal(), said }
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
        write!(f, ": {}", self.said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_and_signals_are_told_apart() {
        let told =
            |status| RankEnd::new("digits", 3, "w4", ExitStatus::from_raw(status), "oh".into()).to_string();
        assert_eq!(told(0x0700), "rank 3 (worker w4 of job digits) ended with exit status 7: oh");
        assert_eq!(told(9), "rank 3 (worker w4 of job digits) was ended by SIGKILL: oh");
    }
}
