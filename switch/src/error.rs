//! Reason that a document cannot be compiled.

use thiserror::Error;

/// Problem of a document: the place in it and the problem with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct CompileError {
    /// Path in the document, such as `actions "ingress.a", primitive 2 (assign)`.
    pub place: String,
    /// Problem at that place.
    pub problem: String,
    /// Whether the document exceeds a limit, rather than being invalid.
    pub is_limit: bool,
}

impl CompileError {
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>) -> CompileError {
        CompileError { place: place.into(), problem: problem.into(), is_limit: false }
    }

    pub(crate) fn limit(place: impl Into<String>, problem: impl Into<String>) -> CompileError {
        CompileError { is_limit: true, ..CompileError::new(place, problem) }
    }
}

pub(crate) type Result<T> = std::result::Result<T, CompileError>;
