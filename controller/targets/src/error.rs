//! What can go wrong with a switch or its program. The switch's name is added by who asked.

use std::fmt;

use inart_tables::{Foreign, Mismatch};
use inart_wire::ValuesPerFrame;

/// Why a switch did not do what it was asked. The texts are the target's own, and name place and fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// No connection, or it broke: the same may well succeed later.
    #[error("{0}")]
    Unreachable(String),
    /// A controller of a greater rank writes.
    #[error("{0}")]
    Superseded(String),
    /// The switch, or the target's own checks, refused.
    #[error("{0}")]
    Refused(String),
    /// The switch holds what no program of ours writes.
    #[error("it holds what no plan of ours is made of: {0}; remove that, or restart the switch")]
    Foreign(#[from] Foreign),
}

/// What went wrong, by switch; never empty.
#[derive(Debug)]
pub struct SwitchErrors(pub Vec<(String, SwitchError)>);

impl std::error::Error for SwitchErrors {}

impl fmt::Display for SwitchErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (switch, error)) in self.0.iter().enumerate() {
            write!(f, "{}switch {switch}: {error}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// Why a program cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The folder has no such program.
    #[error("{0}")]
    Folder(String),
    /// What the compiler printed is not what the target takes.
    #[error("the program for {values} values per frame: {reason}; compile it again")]
    Artifact {
        /// Values per frame.
        values: ValuesPerFrame,
        /// What is wrong.
        reason: String,
    },
    /// Its tables are others.
    #[error(
        "the program for {values} values per frame: {reason}; take the sources of this version and compile them"
    )]
    Tables {
        /// Values per frame.
        values: ValuesPerFrame,
        /// The first difference.
        reason: Mismatch,
    },
}
