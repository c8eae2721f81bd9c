//! Why a stream ended early.

use quinn::{ConnectionError, ReadExactError, WriteError};

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error(transparent)]
    Closed(#[from] quinn::ClosedStream),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] ReadExactError),
}
