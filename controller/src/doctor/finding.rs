//! Findings about jobs.

use std::fmt;

use serde::Serialize;

use super::trace::StallCause;

/// Waiting chunk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waiting {
    /// Number of the shard.
    pub shard: u16,
    /// Name of the server.
    pub server: String,
    /// Sequence of the oldest waiting chunk; `None` if unknown.
    pub sequence: Option<u32>,
    /// Position of the chunk in the round's shard, from 0.
    pub chunk: Option<u32>,
    /// Workers that the chunk waits for.
    pub missing: Vec<Missing>,
    /// Problem of the server itself, if any.
    pub problem: Option<String>,
}

/// Worker that a chunk waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// Rank of the worker.
    pub rank: u16,
    /// Name of the worker.
    pub worker: String,
    /// Why its part is missing.
    #[serde(flatten)]
    pub cause: StallCause,
}

/// Finding about a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobFinding {
    /// Name of the job.
    pub job: String,
    /// Round of the slowest worker, from 0; `None` without a status of a worker.
    pub round: Option<u32>,
    /// Whether a server completed chunks during the observation.
    pub moves: bool,
    /// Why the job has ended, if it has.
    pub failure: Option<String>,
    /// Hosts without a status although others run, in words.
    pub unknown: Vec<String>,
    /// Hosts that started during the observation, in words: the state of their frames is not known yet.
    pub started: Vec<String>,
    /// Shards that wait.
    pub waiting: Vec<Waiting>,
}

impl fmt::Display for JobFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}", self.job)?;
        if let Some(round) = self.round {
            write!(f, " round {round}")?;
        }
        if let Some(failure) = &self.failure {
            return write!(f, ": ended: {failure}");
        }
        let mut separator = ":";
        if !self.unknown.is_empty() {
            let unknown = self.unknown.join(", ");
            write!(f, ": no status of {unknown}: not started, or no status socket in that folder")?;
            separator = ";";
        }
        if !self.started.is_empty() {
            let started = self.started.join(", ");
            write!(f, "{separator} {started} started to answer while the doctor watched; run it again")?;
            separator = ";";
        }
        match (self.waiting.is_empty(), self.moves) {
            (true, true) => return write!(f, "{separator} making progress"),
            (true, false) if separator == ";" => return Ok(()),
            (true, false) => {
                return f.write_str(": no chunk waits: its workers compute, or have not started");
            }
            (false, _) => f.write_str(separator)?,
        }
        for (index, waiting) in self.waiting.iter().enumerate() {
            write!(f, "{} shard {} ({})", if index == 0 { "" } else { ";" }, waiting.shard, waiting.server)?;
            if let Some(problem) = &waiting.problem {
                write!(f, ": {problem}")?;
            }
            if let Some(sequence) = waiting.chunk.or(waiting.sequence) {
                write!(f, " waits for chunk {sequence}")?;
            }
            // Workers with the same cause are listed together.
            for (index, alike) in waiting.missing.chunk_by(|a, b| a.cause == b.cause).enumerate() {
                let ranks: Vec<_> = alike.iter().map(|m| format!("rank {} ({})", m.rank, m.worker)).collect();
                let separator = if index == 0 { "" } else { "," };
                write!(f, "{separator} of {}: {}", ranks.join(" and "), alike[0].cause)?;
            }
        }
        Ok(())
    }
}
