//! What can go wrong at a host.

use std::io;

use inart_core::{AssignmentError, Failure};

use crate::PortError;

/// Why a host agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The assignment makes no sense, or has no such host.
    #[error("assignment: {0}")]
    Assignment(#[from] AssignmentError),
    /// The interface cannot be used.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job ends without its sum.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The operating system refuses a read, a write or a wait.
    #[error("interface {interface}: {source}")]
    Io {
        /// The interface.
        interface: String,
        /// What it says.
        source: io::Error,
    },
}
