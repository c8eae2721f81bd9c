//! Errors of switches and programs. Callers add the name of the switch.

use std::fmt;

use inart_tables::{Foreign, Mismatch};
use inart_wire::ValuesPerFrame;

/// Error of a request to a switch. The texts are the target's own, with place and fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// Lost or failed connection: a retry may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// Takeover by a controller with a greater precedence.
    #[error("{0}")]
    Superseded(String),
    /// Refusal by the switch, or by the target's own checks.
    #[error("{0}")]
    Refused(String),
    /// Entries on the switch that no program of ours writes.
    #[error("it holds entries of another application: {0}; remove them, or restart the switch")]
    Foreign(#[from] Foreign),
}

/// Errors by switch; never empty.
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
    /// Folder without such a program.
    #[error("{0}")]
    Folder(String),
    /// Compiler output that the target does not accept.
    #[error("the program for {values} values per frame: {reason}; compile it again")]
    Artifact {
        /// Values per frame.
        values: ValuesPerFrame,
        /// Problem.
        reason: String,
    },
    /// Tables that differ from the declared ones.
    #[error(
        "the program for {values} values per frame: {reason}; take the sources of this version and compile them"
    )]
    Tables {
        /// Values per frame.
        values: ValuesPerFrame,
        /// First difference.
        reason: Mismatch,
    },
}
