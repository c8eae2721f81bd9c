//! Errors of documents.

use std::fmt;

use crate::one_line::one_line;

/// A problem of a network's document: its place, the problem, and the fix. Displays as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkError {
    /// Line of the document, when the parser knows it.
    pub line: Option<u64>,
    /// The node, link or job by name.
    pub place: String,
    /// Problem.
    pub problem: String,
    /// Fix.
    pub fix: String,
}

impl NetworkError {
    /// Creates a problem; line 0 means unknown.
    pub fn new(
        line: impl Into<Option<u64>>,
        place: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        NetworkError {
            line: line.into().filter(|&line| line > 0),
            place: one_line(place.into()),
            problem: one_line(problem.into()),
            fix: one_line(fix.into()),
        }
    }

    /// Returns the error with a wider place before its own, like the site whose inside is invalid.
    pub(crate) fn within(self, place: &str) -> Self {
        NetworkError { place: one_line(format!("{place}: {}", self.place)), ..self }
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: {}", self.place, self.problem)?;
        if self.fix.is_empty() { Ok(()) } else { write!(f, "; {}", self.fix) }
    }
}

/// Result of building a network from its document.
pub(crate) type Result<T> = std::result::Result<T, NetworkError>;

impl std::error::Error for NetworkError {}
