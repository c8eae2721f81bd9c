//! Lowers a bmv2 JSON document to a flat [`Program`].

mod action;
mod branch;
mod build;
mod calculation;
mod expr;
mod layout;
mod lower;
mod parser;
mod pipeline;
mod primitive;
mod table;

use thiserror::Error;

use crate::json;
use crate::program::Program;
use build::Builder;

/// Stack for reading and lowering deeply nested expressions; only touched pages cost memory.
const STACK_BYTES: usize = 256 << 20;

/// What is wrong with a document: the place in it and the problem with its mend.
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

/// Whether runs of isomorphic operations are fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fusion {
    On,
    Off,
}

/// Compiles a document.
pub(crate) fn compile(text: &[u8], fusion: Fusion) -> Result<Program> {
    let work = || {
        let document = json::parse(text)?;
        let mut program = Builder::new(&document)?.build()?;
        if fusion == Fusion::On {
            crate::fuse::fuse(&mut program);
        }
        Ok(program)
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|error| CompileError::new("compiler", format!("cannot start its thread: {error}")))?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
