//! Errors of a batch of updates, one by one, as both protocols pack them into a status.

use std::fmt;

use prost::Message;
use prost_types::Any;
use tonic::{Code, Status};

/// Failures that the one-line message names.
const SHOWN: usize = 3;

/// Bytes of details that fit the 8 KiB of a trailer in base64, together with its other fields.
const DETAILS_BYTES: usize = 5 << 10;

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
struct Details {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// Error of one update of a batch.
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
    pub device: u64,
    /// Updates in the batch.
    pub total: usize,
    /// Whether the others were undone; else they took effect.
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

/// Returns the code's name in specifications, such as `NOT_FOUND`.
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

/// Reads the error of each update, a message of that name, out of a failed call's status; those after the
/// last that failed may be missing. `None` when the whole request was refused before any update was tried.
pub fn update_errors<E: Message + Default>(name: &str, status: &Status) -> Option<Vec<E>> {
    let details = Details::decode(status.details()).ok()?.details;
    let errors = details.iter().map(|detail| {
        let ours = detail.type_url.rsplit('/').next() == Some(name);
        ours.then(|| E::decode(detail.value.as_slice()).ok()).flatten()
    });
    errors.collect::<Option<Vec<_>>>().filter(|errors| !errors.is_empty())
}

/// Returns the status of a call in which some updates failed: one result per update, in order, as a message
/// of that name. `what` names the updates; `error` makes the message of a code and its text.
pub fn update_errors_status<E: Message>(
    (name, what): (&str, &str),
    results: &[Result<(), Status>],
    error: impl Fn(Code, String) -> E,
) -> Status {
    let detail = |result: &Result<(), Status>, with_words: bool| {
        let error = match result {
            Ok(()) => error(Code::Ok, String::new()),
            Err(status) if with_words => error(status.code(), status.message().to_owned()),
            Err(status) => error(status.code(), String::new()),
        };
        Any { type_url: format!("type.googleapis.com/{name}"), value: error.encode_to_vec() }
    };
    let whole: Vec<_> = results.iter().map(|result| detail(result, true)).collect();
    // gRPC's clients refuse longer trailers by default, and then show no error of the switch: the last texts
    // are left out. A batch whose codes alone are too long needs a client that allows more.
    let bytes = |details: &[Any]| details.iter().map(Message::encoded_len).sum::<usize>();
    let mut details: Vec<_> = results.iter().map(|result| detail(result, false)).collect();
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
    let message = format!("{failed} of {} {what} failed", results.len());
    let status = Details { code: Code::Unknown as i32, message: message.clone(), details };
    Status::with_details(Code::Unknown, message, status.encode_to_vec().into())
}
