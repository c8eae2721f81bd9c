//! Reason that a stream ended early.

use quinn::{ConnectionError, ReadError, ReadExactError, WriteError};

/// Reason that a message was not taken.
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

impl StreamError {
    /// Returns the end of the stream's connection, if that has ended the stream.
    pub fn connection(&self) -> Option<&ConnectionError> {
        match self {
            StreamError::Connection(lost)
            | StreamError::Write(WriteError::ConnectionLost(lost))
            | StreamError::Read(ReadExactError::ReadError(ReadError::ConnectionLost(lost))) => Some(lost),
            _ => None,
        }
    }
}
