//! Errors between a client and its device.

use super::target::ElectionId;
use crate::codec::EntryError;
use crate::schema::SchemaError;

/// Error of a client: its place, the problem, and the fix.
pub type ClientError = inart_rpc::ClientError<OwnError>;

/// Errors of P4Runtime clients alone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OwnError {
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
        /// Election id that this client requested.
        asked: Option<ElectionId>,
        /// The greatest election id the device has seen.
        greatest: Option<ElectionId>,
    },
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

impl From<OwnError> for ClientError {
    fn from(error: OwnError) -> Self {
        Self::Own(error)
    }
}

impl From<SchemaError> for ClientError {
    fn from(error: SchemaError) -> Self {
        Self::Own(error.into())
    }
}

impl From<EntryError> for ClientError {
    fn from(error: EntryError) -> Self {
        Self::Own(error.into())
    }
}
