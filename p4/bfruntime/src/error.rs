//! Errors of a batch of updates, one by one, as BFRuntime packs them into a status.

use std::fmt;

use prost::Message;
use tonic::{Code, Status};

use crate::bfrt_proto as v;
use crate::google::rpc;

const ERROR_URL: &str = "type.googleapis.com/bfrt_proto.Error";

/// Why one update of a batch failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateError {
    /// Place of the update in the batch, from 0.
    pub index: usize,
    /// The update in names, such as `insert steer[...] -> add(...)`.
    pub update: String,
    /// The canonical code.
    pub code: Code,
    /// The device's message.
    pub message: String,
}

/// A write in which some updates failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError {
    /// Address of the server.
    pub address: String,
    /// The device.
    pub device: u32,
    /// Updates in the batch.
    pub total: usize,
    /// Whether the others were undone.
    pub undone: bool,
    /// The updates that failed.
    pub failures: Vec<UpdateError>,
}

impl std::error::Error for WriteError {}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, device, total, undone, failures } = self;
        write!(f, "device {device} at {address} refused {} of {total} updates", failures.len())?;
        if *undone {
            write!(f, ", and undid the others")?;
        }
        for failure in failures.iter().take(SHOWN) {
            let UpdateError { index, update, code, message } = failure;
            write!(f, "; update {index} ({update}): {}: {message}", code_name(*code))?;
        }
        match failures.len().checked_sub(SHOWN + 1) {
            Some(more) => write!(f, "; and {} more", more + 1),
            None => Ok(()),
        }
    }
}

/// Failures that the one-line message names.
const SHOWN: usize = 3;

/// The code's name in specifications, such as `NOT_FOUND`.
pub(crate) fn code_name(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_uppercase());
    }
    name
}

/// Reads the error of each entity out of a failed call's status; those after the last that failed may be
/// missing. `None` when the whole request was refused before any was tried.
pub fn update_errors(status: &Status) -> Option<Vec<v::Error>> {
    let details = rpc::Status::decode(status.details()).ok()?.details;
    let errors = details.iter().map(|detail| {
        let ours = detail.type_url.rsplit('/').next() == Some("bfrt_proto.Error");
        ours.then(|| v::Error::decode(detail.value.as_slice()).ok()).flatten()
    });
    errors.collect::<Option<Vec<_>>>().filter(|errors| !errors.is_empty())
}

/// The status of a call in which some entities failed: one result per entity, in order.
pub fn update_errors_status(results: &[Result<(), Status>]) -> Status {
    let error = |result: &Result<(), Status>| match result {
        Ok(()) => v::Error::default(),
        Err(status) => v::Error {
            canonical_code: status.code() as i32,
            message: status.message().to_owned(),
            ..Default::default()
        },
    };
    let details = results.iter().map(|result| prost_types::Any {
        type_url: ERROR_URL.to_owned(),
        value: error(result).encode_to_vec(),
    });
    let failed = results.iter().filter(|result| result.is_err()).count();
    let message = format!("{failed} of {} entities failed", results.len());
    let status =
        rpc::Status { code: Code::Unknown as i32, message: message.clone(), details: details.collect() };
    Status::with_details(Code::Unknown, message, status.encode_to_vec().into())
}
