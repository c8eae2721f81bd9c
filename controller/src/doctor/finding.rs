//! What is found of a job, and how it is told.

use std::fmt;

use serde::Serialize;

use super::trace::Obstacle;

/// A chunk that waits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Waiting {
    /// Number of the shard.
    pub shard: u16,
    /// Its server.
    pub server: String,
    /// Sequence of the oldest chunk that waits; `None` if nobody knows.
    pub sequence: Option<u32>,
    /// Its place in the round's shard, from 0.
    pub chunk: Option<u32>,
    /// For whom.
    pub missing: Vec<Missing>,
    /// What is wrong with the server itself, if something is.
    pub problem: Option<String>,
}

/// A worker that a chunk waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// Its rank.
    pub rank: u16,
    /// Its name.
    pub worker: String,
    /// Why its part is not there.
    #[serde(flatten)]
    pub obstacle: Obstacle,
}

/// What is found of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobFinding {
    /// The job's name.
    pub job: String,
    /// The round of the worker that is furthest behind, from 0; `None` if no worker said.
    pub round: Option<u32>,
    /// Whether a server completed chunks while it was watched.
    pub moves: bool,
    /// Why it is over, if it is.
    pub failure: Option<String>,
    /// Hosts that nothing is known of though others run, in words.
    pub unknown: Vec<String>,
    /// Hosts that have started while the doctor watched, in words: what their frames do is not known yet.
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
            return write!(f, ": it is over: {failure}");
        }
        let mut separator = ":";
        if !self.unknown.is_empty() {
            let unknown = self.unknown.join(", ");
            write!(
                f,
                ": nothing is known of {unknown}: not started, or without a status socket in that folder"
            )?;
            separator = ";";
        }
        if !self.started.is_empty() {
            let started = self.started.join(", ");
            write!(f, "{separator} {started} began to answer while the doctor watched: ask again")?;
            separator = ";";
        }
        match (self.waiting.is_empty(), self.moves) {
            (true, true) => return write!(f, "{separator} it moves"),
            (true, false) if separator == ";" => return Ok(()),
            (true, false) => return f.write_str(": nothing waits: its workers compute, or have not begun"),
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
            // Those that are held up alike are named together.
            for (index, alike) in waiting.missing.chunk_by(|a, b| a.obstacle == b.obstacle).enumerate() {
                let ranks: Vec<_> = alike.iter().map(|m| format!("rank {} ({})", m.rank, m.worker)).collect();
                let separator = if index == 0 { "" } else { "," };
                write!(f, "{separator} of {}: {}", ranks.join(" and "), alike[0].obstacle)?;
            }
        }
        Ok(())
    }
}
