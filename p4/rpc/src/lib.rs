//! Common parts of clients of switches, for any protocol: P4Runtime and BFRuntime both are gRPC services with
//! a stream that lasts as long as the session, and batches of updates.
//!
//! - [`Device`]: where a device is, as errors name it; calls with a time limit.
//! - [`Stream`]: the stream of a session, over the messages of a [`Protocol`].
//! - [`ClientError`]: errors; [`WriteError`]: the updates of a batch that failed.
//! - [`update_errors`] and [`update_errors_status`]: errors of single updates in a status.

mod device;
mod error;
mod stream;
mod write;

pub use device::Device;
pub use error::ClientError;
pub use stream::{Answered, DeviceMessage, EVENT_QUEUE, Protocol, Stream};
pub use write::{UpdateError, WriteError, update_errors, update_errors_status};
