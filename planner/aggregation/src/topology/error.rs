//! What can be wrong with a topology document.

use std::fmt;

use crate::one_line::one_line;

/// One thing wrong with a topology document: where, what, and how to fix it. Displays as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopologyError {
    /// Line of the document, when the parser knows it.
    pub line: Option<u64>,
    /// The node, link or job by name.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

impl TopologyError {
    /// One thing that is wrong; line 0 counts as unknown.
    pub fn new(
        line: impl Into<Option<u64>>,
        place: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        TopologyError {
            line: line.into().filter(|&line| line > 0),
            place: one_line(place.into()),
            problem: one_line(problem.into()),
            fix: one_line(fix.into()),
        }
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: {}", self.place, self.problem)?;
        if self.fix.is_empty() { Ok(()) } else { write!(f, "; {}", self.fix) }
    }
}

impl std::error::Error for TopologyError {}
