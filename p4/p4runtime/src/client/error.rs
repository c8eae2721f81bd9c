//! What can go wrong between a client and its device.

use std::error::Error as _;
use std::time::Duration;

use inart_tls::advice::{USE_ACCEPTED_CERTIFICATE, USE_TLS};
use inart_tls::{ChannelError, EndpointError, Security, TlsFailure, failure_at, innermost};
use tonic::{Code, Status};

use super::target::{ElectionId, Target};
use crate::codec::EntryError;
use crate::error::{WriteError, code_name};
use crate::schema::SchemaError;

/// What went wrong, where, and how to fix it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The address cannot be understood, or not be reached the way that was asked for.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Nothing answers at the address.
    #[error("no P4Runtime server answers at {address} ({reason}); start the switch or correct the address")]
    Connect {
        /// The address.
        address: String,
        /// What the system said.
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
    /// The connection was made, and ended before the device had said anything.
    #[error("the connection to {address} ended at once ({reason}): {hint}")]
    Refused {
        /// The address.
        address: String,
        /// What the system said.
        reason: String,
        /// What may fix it.
        hint: &'static str,
    },
    /// The device did not answer in time.
    #[error("device {device} at {address} did not answer {what} within {timeout:?}")]
    Timeout {
        /// The address.
        address: String,
        /// The device.
        device: u64,
        /// What was waited for.
        what: &'static str,
        /// How long.
        timeout: Duration,
    },
    /// Another client is primary.
    #[error(
        "this client (election id {}) is not primary for device {device} at {address}: the greatest election id seen \
         there is {}; use a greater one, or stop the other controller",
        show(.asked), show(.greatest)
    )]
    NotPrimary {
        /// The address.
        address: String,
        /// The device.
        device: u64,
        /// The election id this client asked for.
        asked: Option<ElectionId>,
        /// The greatest election id the device has seen.
        greatest: Option<ElectionId>,
    },
    /// The device refused a call.
    #[error("{call} on device {device} at {address}: {}: {message}{}", code_name(*.code), hint(*.code))]
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
    },
    /// Some updates of a batch failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The names of the program are not known yet.
    #[error("device {device} at {address}: set or read the pipeline first, its names are not known")]
    NoSchema {
        /// The address.
        address: String,
        /// The device.
        device: u64,
    },
    /// A name or number that the program does not have, or a P4Info that is not one.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// An entry that does not fit the program.
    #[error(transparent)]
    Entry(#[from] EntryError),
}

fn show(id: &Option<ElectionId>) -> String {
    id.map_or("none".to_owned(), |id| id.to_string())
}

fn hint(code: Code) -> &'static str {
    match code {
        Code::Unavailable => " (start the switch or correct the address)",
        Code::PermissionDenied => " (another controller is primary: use a greater election id)",
        Code::Unimplemented => " (the switch does not support this)",
        _ => "",
    }
}

impl From<ChannelError> for ClientError {
    fn from(error: ChannelError) -> Self {
        match error {
            ChannelError::Endpoint(error) => Self::Endpoint(error),
            ChannelError::Connect { address, reason } => Self::Connect { address, reason },
            ChannelError::Tls { address, failure } => Self::Tls { address, failure },
        }
    }
}

impl ClientError {
    pub(super) fn timeout(target: &Target, what: &'static str, timeout: Duration) -> Self {
        Self::Timeout { address: target.address.clone(), device: target.device.0, what, timeout }
    }

    pub(super) fn no_schema(target: &Target) -> Self {
        Self::NoSchema { address: target.address.clone(), device: target.device.0 }
    }

    /// The stream ended before the first answer. Over TLS a client believes to be connected before the server
    /// has looked at its certificate, so this is where it hears of it.
    pub(super) async fn opening(target: &Target, status: Status) -> Self {
        if status.source().is_none() {
            return Self::rpc("StreamChannel", target, status);
        }
        let address = target.address.clone();
        if let Some(failure) = failure_at(&address, &target.security, TlsFailure::of(&status)).await {
            return Self::Tls { address, failure };
        }
        let hint = match target.security {
            Security::Tls(_) => USE_ACCEPTED_CERTIFICATE,
            Security::Local | Security::Plain => USE_TLS,
        };
        Self::Refused { address, reason: innermost(&status), hint }
    }

    pub(super) fn rpc(call: &'static str, target: &Target, status: Status) -> Self {
        Self::Rpc {
            call,
            address: target.address.clone(),
            device: target.device.0,
            code: status.code(),
            message: status.message().to_owned(),
        }
    }
}
