//! What can go wrong between a client and its device.

use std::error::Error as _;
use std::time::Duration;

use inart_tls::advice::{USE_ACCEPTED_CERTIFICATE, USE_TLS};
use inart_tls::{ChannelError, EndpointError, Security, TlsFailure, failure_at, innermost};
use tonic::{Code, Status};

use super::target::Target;
use crate::codec::EntryError;
use crate::error::{WriteError, code_name};
use crate::info::InfoError;

/// What went wrong, where, and how to fix it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The address cannot be understood, or not be reached the way that was asked for.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Nothing answers at the address.
    #[error("no BFRuntime server answers at {address} ({reason}); start the switch or correct the address")]
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
        device: u32,
        /// What was waited for.
        what: &'static str,
        /// How long.
        timeout: Duration,
    },
    /// Another client is bound to the program.
    #[error(
        "program {program} of device {device} at {address} belongs to another client ({message}): BFRuntime lets one \
         at a time write; stop the other controller"
    )]
    Owned {
        /// The address.
        address: String,
        /// The device.
        device: u32,
        /// The program.
        program: String,
        /// The device's message.
        message: String,
    },
    /// The device refused a call.
    #[error("{call} on device {device} at {address}: {}: {message}{}", code_name(*.code), hint(*.code))]
    Rpc {
        /// The call.
        call: &'static str,
        /// The address.
        address: String,
        /// The device.
        device: u32,
        /// The canonical code.
        code: Code,
        /// The device's message.
        message: String,
    },
    /// Some changes of a batch failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The names of the program are not known yet.
    #[error("device {device} at {address}: say which program is meant first, its names are not known")]
    NoInfo {
        /// The address.
        address: String,
        /// The device.
        device: u32,
    },
    /// A name or number that the program does not have, or a `bf-rt.json` that is not one.
    #[error(transparent)]
    Info(#[from] InfoError),
    /// An entry that does not fit the program.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// The device's own tables hold what this crate does not know.
    #[error("device {device} at {address}: {place}: {what}")]
    Strange {
        /// The address.
        address: String,
        /// The device.
        device: u32,
        /// Where.
        place: String,
        /// What.
        what: String,
    },
}

fn hint(code: Code) -> &'static str {
    match code {
        Code::Unavailable => " (start the switch, or wait until it has loaded its program)",
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

    pub(super) fn no_info(target: &Target) -> Self {
        Self::NoInfo { address: target.address.clone(), device: target.device.0 }
    }

    pub(super) fn strange(target: &Target, place: String, what: String) -> Self {
        Self::Strange { address: target.address.clone(), device: target.device.0, place, what }
    }

    pub(super) fn owned(target: &Target, program: &str, message: String) -> Self {
        let (address, device) = (target.address.clone(), target.device.0);
        Self::Owned { address, device, program: program.to_owned(), message }
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
