//! What clients of switches have in common, whichever protocol a switch speaks: P4Runtime and BFRuntime both
//! are gRPC services with a stream that lives as long as the session, and batches of updates.
//!
//! - [`Device`]: where a device is, as errors name it; calls with a time limit.
//! - [`Stream`]: the stream of a session, over the messages of a [`Protocol`].
//! - [`ClientError`]: what goes wrong; [`WriteError`]: the updates of a batch that failed.
//! - [`update_errors`] and [`update_errors_status`]: errors of single updates in a status.

mod device;
mod error;
mod stream;
mod write;

pub use device::Device;
pub use error::ClientError;
pub use stream::{Answered, EVENT_QUEUE, Protocol, Said, Stream};
pub use write::{UpdateError, WriteError, update_errors, update_errors_status};
