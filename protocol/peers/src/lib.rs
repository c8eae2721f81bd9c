//! One peer's update on its way to its receivers: state machines without I/O and without a clock.
//! docs/protocol/peers.md, "Multicast".

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod counters;
mod frames;
mod members;
mod message;
mod pacer;
mod packets;
mod ranges;
mod receiver;
mod receivers;
mod sender;
mod update;

pub use counters::{ReceiverCounters, Refused, SenderCounters};
pub use frames::{FrameContent, FrameWriter, read_frame};
pub use members::Members;
pub use message::{Envelope, Message};
pub use packets::{PacketContent, chunk_packet, message_packet, notice_packet, read_packet};
pub use ranges::Ranges;
pub use receiver::{Receiver, ReceiverOptions, ReceiverOutput};
pub use receivers::Receivers;
pub use sender::{Copies, Outcome, Sender, SenderOptions, SenderOutput, Task, TaskError, Transmission};
pub use update::{Cut, UpdateId, round_near};
