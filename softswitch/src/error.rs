//! Why a document cannot be compiled.

use thiserror::Error;

/// What is wrong with a document: the place in it and the problem with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct CompileError {
    /// Path in the document, such as `actions "ingress.a", primitive 2 (assign)`.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

impl CompileError {
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>) -> CompileError {
        CompileError { place: place.into(), problem: problem.into() }
    }
}

pub(crate) type Result<T> = std::result::Result<T, CompileError>;
