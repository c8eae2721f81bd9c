//! Reason that a fault schedule cannot be used.

/// Reason that a fault schedule cannot be used, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not a fault schedule.
    #[error("{}{problem}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Document {
        /// The line, from 1, if the problem is in one.
        line: Option<u64>,
        /// Problem.
        problem: String,
    },
    /// An entry does not fit this topology, or the runner cannot execute it.
    #[error("{place}: {problem}")]
    Entry {
        /// The entry, like `events[0]`.
        place: String,
        /// Problem, and how to fix it.
        problem: String,
    },
}
