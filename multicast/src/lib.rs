//! One peer's update on its way to the receivers that were chosen for it: state machines without I/O and without
//! a clock. docs/protocol.md, "Multicast".

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod counters;
mod message;
mod pacer;
mod ranges;
mod receiver;
mod receivers;
mod sender;
mod update;

pub use counters::{DoorCounters, ReceiverCounters, SenderCounters};
pub use message::{Envelope, Message};
pub use ranges::Ranges;
pub use receiver::{Receiver, ReceiverOptions, ReceiverOutput};
pub use receivers::Receivers;
pub use sender::{Copies, Outcome, Sender, SenderOptions, SenderOutput, Task, TaskError, Transmission};
pub use update::{Cut, UpdateId, round_near};
