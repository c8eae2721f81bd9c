//! Checks that many entities share: byte strings, ids, indexes, and the statuses of their failures.

use inart_p4runtime::p4::v1::Index;
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::{SchemaError, Value};
use tonic::Status;

use crate::control::ControlError;

pub(super) fn invalid(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

/// Converts a failed lookup: an id of P4Info that does not exist makes the entity malformed.
pub(super) fn known<T>(found: Result<T, SchemaError>) -> Result<T, Status> {
    found.map_err(|error| invalid(error.to_string()))
}

/// Returns a byte string that must fit `width` bits, in canonical form.
pub(super) fn bits(bytes: &[u8], width: i32, place: impl Fn() -> String) -> Result<Value, Status> {
    let fits = |value: Value| value.check_width(width.max(0) as u32).map(|()| value);
    Value::from_bytes(bytes)
        .and_then(fits)
        .map_err(|error| Status::out_of_range(format!("{}: {error}", place())))
}

/// Returns the cells that an optional index of an array names.
pub(super) fn cells(index: Option<Index>, size: usize, name: &str) -> Result<std::ops::Range<usize>, Status> {
    let Some(Index { index }) = index else { return Ok(0..size) };
    let at = usize::try_from(index).map_err(|_| invalid(format!("{name}: index {index} is negative")))?;
    match at < size {
        true => Ok(at..at + 1),
        false => Err(Status::out_of_range(format!("{name}: there is no index {index}, it has {size} cells"))),
    }
}

/// For entities that always exist.
pub(super) fn only_modify(kind: Type, what: &str) -> Result<(), Status> {
    match kind {
        Type::Modify => Ok(()),
        _ => Err(invalid(format!("a {what} always exists: it can only be modified"))),
    }
}

/// Checks the update type for entities that can be added and removed: INSERT needs a new one, MODIFY and
/// DELETE an existing one.
pub(super) fn existence(kind: Type, exists: bool, what: impl FnOnce() -> String) -> Result<(), Status> {
    match (kind, exists) {
        (Type::Insert, true) => Err(Status::already_exists(format!("{} exists: modify it instead", what()))),
        (Type::Modify | Type::Delete, false) => Err(Status::not_found(format!("there is no {}", what()))),
        _ => Ok(()),
    }
}

/// Returns a negative number where the protocol means an unsigned one.
pub(super) fn unsigned(number: i64, place: impl FnOnce() -> String) -> Result<u64, Status> {
    u64::try_from(number).map_err(|_| invalid(format!("{}: {number} is negative", place())))
}

impl From<ControlError> for Status {
    fn from(error: ControlError) -> Self {
        let message = error.to_string();
        match error {
            ControlError::NotFound(_) => Status::not_found(message),
            ControlError::AlreadyExists(_) => Status::already_exists(message),
            ControlError::InvalidArgument(_) => Status::invalid_argument(message),
            ControlError::OutOfRange(_) => Status::out_of_range(message),
            ControlError::ResourceExhausted(_) => Status::resource_exhausted(message),
            ControlError::PermissionDenied(_) => Status::permission_denied(message),
            ControlError::FailedPrecondition(_) => Status::failed_precondition(message),
        }
    }
}
