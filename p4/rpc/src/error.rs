//! Errors between a client and its device.

use std::time::Duration;

use inart_tls::{ChannelError, EndpointError, TlsFailure};
use tonic::Code;

use crate::write::{WriteError, code_name};

/// Error of a client: its place, the problem, and the fix. `O` has the errors of one protocol only.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError<O: std::error::Error + 'static> {
    /// Address that cannot be parsed, or not be reached with the requested security.
    #[error(transparent)]
    Endpoint(EndpointError),
    /// Nothing answers at the address.
    #[error("no {service} server answers at {address} ({reason}); start the switch or correct the address")]
    Connect {
        /// The protocol.
        service: &'static str,
        /// The address.
        address: String,
        /// Error of the operating system.
        reason: String,
    },
    /// A server answers, and the two sides do not agree on TLS.
    #[error("a server answers at {address}, but {failure}")]
    Tls {
        /// The address.
        address: String,
        /// The disagreement.
        failure: TlsFailure,
    },
    /// Connection that ended before the device had sent anything.
    #[error("the connection to {address} ended at once ({reason}): {hint}")]
    Refused {
        /// The address.
        address: String,
        /// Error of the operating system.
        reason: String,
        /// Possible fix.
        hint: &'static str,
    },
    /// The device did not answer in time.
    #[error("device {device} at {address} did not answer {what} within {timeout:?}")]
    Timeout {
        /// The address.
        address: String,
        /// The device.
        device: u64,
        /// Awaited answer.
        what: &'static str,
        /// Time limit.
        timeout: Duration,
    },
    /// The device refused a call.
    #[error("{call} on device {device} at {address}: {}: {message}{hint}", code_name(*.code))]
    Rpc {
        /// The call.
        call: &'static str,
        /// The address.
        address: String,
        /// The device.
        device: u64,
        /// The canonical code.
        code: Code,
        /// The device's message.
        message: String,
        /// Possible fix, in parentheses after a blank; empty if none is known.
        hint: &'static str,
    },
    /// Some updates of a batch failed.
    #[error(transparent)]
    Write(WriteError),
    /// Error of this protocol only.
    #[error(transparent)]
    Own(O),
}

impl<O: std::error::Error + 'static> ClientError<O> {
    /// Returns the error of a failed connection for a service.
    pub(crate) fn channel(service: &'static str, error: ChannelError) -> Self {
        match error {
            ChannelError::Endpoint(error) => Self::Endpoint(error),
            ChannelError::Connect { address, reason } => Self::Connect { service, address, reason },
            ChannelError::Tls { address, failure } => Self::Tls { address, failure },
        }
    }
}

impl<O: std::error::Error + 'static> From<WriteError> for ClientError<O> {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
