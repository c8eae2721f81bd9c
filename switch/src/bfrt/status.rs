//! Statuses of failures, with the codes that the driver uses.

use inart_bfruntime::{EntryError, InfoError};
use tonic::Status;

use crate::control::ControlError;

pub(super) fn invalid(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

pub(super) fn unserved(message: impl Into<String>) -> Status {
    Status::unimplemented(message)
}

/// Returns a name or number that the program does not have.
pub(super) fn unknown(error: InfoError) -> Status {
    Status::not_found(error.to_string())
}

/// Returns an entry that does not fit the program.
pub(super) fn misfit(error: EntryError) -> Status {
    match error {
        EntryError::Info(error) => unknown(error),
        EntryError::Misfit { .. } => invalid(error.to_string()),
    }
}

/// Returns the status of an error of the switch.
pub(super) fn refused(error: ControlError) -> Status {
    Status::from(error)
}
