//! Errors of a batch of updates, one by one, as P4Runtime packs them into a status.

use tonic::Status;

use crate::p4::v1;

const ERROR: &str = "p4.v1.Error";

/// Reads the `p4.v1.Error` of each update out of a failed write's status. `None` when the whole request was
/// refused before any update was tried.
pub fn update_errors(status: &Status) -> Option<Vec<v1::Error>> {
    inart_rpc::update_errors(ERROR, status)
}

/// Returns the status of a write in which some updates failed: one result per update, in order.
pub fn update_errors_status(results: &[Result<(), Status>]) -> Status {
    inart_rpc::update_errors_status((ERROR, "updates"), results, |code, message| v1::Error {
        canonical_code: code as i32,
        message,
        ..Default::default()
    })
}
