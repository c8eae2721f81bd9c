//! Errors of a batch of updates, one by one, as P4Runtime packs them into a status.

use std::fmt;

use prost::Message;
use tonic::{Code, Status};

use crate::google::rpc;
use crate::p4::v1;

const ERROR_URL: &str = "type.googleapis.com/p4.v1.Error";

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

/// A write in which some updates failed; the others took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError {
    /// Address of the server.
    pub address: String,
    /// The device.
    pub device: u64,
    /// Updates in the batch.
    pub total: usize,
    /// The updates that failed.
    pub failures: Vec<UpdateError>,
}

impl std::error::Error for WriteError {}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, device, total, failures } = self;
        write!(f, "device {device} at {address} refused {} of {total} updates", failures.len())?;
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

/// Reads the `p4.v1.Error` of each update out of a failed write's status. `None` when the whole request was
/// refused before any update was tried.
pub fn update_errors(status: &Status) -> Option<Vec<v1::Error>> {
    let details = rpc::Status::decode(status.details()).ok()?.details;
    let errors = details.iter().map(|detail| {
        let ours = detail.type_url.rsplit('/').next() == Some("p4.v1.Error");
        ours.then(|| v1::Error::decode(detail.value.as_slice()).ok()).flatten()
    });
    errors.collect::<Option<Vec<_>>>().filter(|errors| !errors.is_empty())
}

/// Bytes of details that fit the 8 KiB of a trailer in base64, beside the rest of it.
const DETAILS_BYTES: usize = 5 << 10;

/// The status of a write in which some updates failed: one result per update, in order.
pub fn update_errors_status(results: &[Result<(), Status>]) -> Status {
    let error = |result: &Result<(), Status>| match result {
        Ok(()) => v1::Error::default(),
        Err(status) => v1::Error {
            canonical_code: status.code() as i32,
            message: status.message().to_owned(),
            ..Default::default()
        },
    };
    let detail =
        |error: v1::Error| prost_types::Any { type_url: ERROR_URL.to_owned(), value: error.encode_to_vec() };
    let whole: Vec<_> = results.iter().map(|result| detail(error(result))).collect();
    let bare = |result| detail(v1::Error { message: String::new(), ..error(result) });
    // gRPC's clients refuse longer trailers by default, and show no error of the switch then: the last words
    // are left out. A batch whose codes alone are too long needs a client that allows more.
    let bytes = |details: &[prost_types::Any]| details.iter().map(Message::encoded_len).sum::<usize>();
    let mut details: Vec<_> = results.iter().map(bare).collect();
    let mut room = DETAILS_BYTES.saturating_sub(bytes(&details));
    let all_fit = bytes(&whole) <= DETAILS_BYTES || room == 0;
    for (detail, whole) in details.iter_mut().zip(whole) {
        let more = whole.encoded_len() - detail.encoded_len();
        if all_fit || more <= room {
            room = room.saturating_sub(more);
            *detail = whole;
        }
    }
    let failed = results.iter().filter(|result| result.is_err()).count();
    let message = format!("{failed} of {} updates failed", results.len());
    let status = rpc::Status { code: Code::Unknown as i32, message: message.clone(), details };
    Status::with_details(Code::Unknown, message, status.encode_to_vec().into())
}
