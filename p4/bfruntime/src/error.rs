//! Errors of a batch of updates, one by one, as BFRuntime packs them into a status.

use tonic::Status;

use crate::bfrt_proto as v;

const ERROR: &str = "bfrt_proto.Error";

/// Reads the error of each entity out of a failed call's status; those after the last that failed may be
/// missing. `None` when the whole request was refused before any was tried.
pub fn update_errors(status: &Status) -> Option<Vec<v::Error>> {
    inart_rpc::update_errors(ERROR, status)
}

/// Returns the status of a call in which some entities failed: one result per entity, in order.
pub fn update_errors_status(results: &[Result<(), Status>]) -> Status {
    inart_rpc::update_errors_status((ERROR, "entities"), results, |code, message| v::Error {
        canonical_code: code as i32,
        message,
        ..Default::default()
    })
}
