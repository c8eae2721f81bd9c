//! Errors between a client and its device.

use crate::codec::EntryError;
use crate::info::InfoError;

/// Error of a client: its place, the problem, and the fix.
pub type ClientError = inart_rpc::ClientError<OwnError>;

/// Errors of BFRuntime clients alone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OwnError {
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
    /// The names of the program are not known yet.
    #[error("device {device} at {address}: bind a program first, its names are not known")]
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
    /// The device's own tables have contents that this crate does not support.
    #[error("device {device} at {address}: {place}: {what}")]
    Strange {
        /// The address.
        address: String,
        /// The device.
        device: u32,
        /// Table, or entry, with the problem.
        place: String,
        /// Problem.
        what: String,
    },
}

impl From<OwnError> for ClientError {
    fn from(error: OwnError) -> Self {
        Self::Own(error)
    }
}

impl From<InfoError> for ClientError {
    fn from(error: InfoError) -> Self {
        Self::Own(error.into())
    }
}

impl From<EntryError> for ClientError {
    fn from(error: EntryError) -> Self {
        Self::Own(error.into())
    }
}
