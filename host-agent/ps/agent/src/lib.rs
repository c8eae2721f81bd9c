//! Push and pull between a parameter server and its workers: messages on connections, as state machines
//! without I/O and without a clock (docs/protocol/ps.md, "Push and pull").
//!
//! A [`ServerAgent`] drives a [`Sequencer`], which decides which worker pulls when and which updates are
//! applied; a [`WorkerAgent`] drives `inart_protocol_ps::Worker`. Values travel in chunks, each of which is
//! delivered or fails, in any order. A transfer that an ended connection interrupts resumes where it was.
//! Packets of another incarnation of either side, or of another permission, are dropped and counted.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod chunk;
mod counters;
mod in_groups;
mod in_order;
mod incoming;
mod kinds;
mod message;
mod outgoing;
mod packet;
mod sequencer;
mod server;
mod worker;

pub use chunk::{Precision, Tag, as_received, chunk_packet};
pub use counters::{ServerCounters, WorkerCounters};
pub use in_groups::InGroups;
pub use in_order::InOrder;
pub use kinds::PacketError;
pub use message::{
    Arrived, Body, Hello, LeftOut, Message, NotPermitted, Over, Permit, Pull, Pushed, Refused, Request, Span,
    Stopped, Unknown, Waiting, Welcome, message_packet,
};
pub use packet::{Packet, decode};
pub use sequencer::{Applied, Checkpoint, Decision, Sequencer, Verdict};
pub use server::{
    Awaited, CheckpointStore, ServerAgent, ServerReport, ServerSetup, Training, TrainingCheckpoint,
};
pub use worker::{Computed, Start, WorkerAgent, WorkerError, WorkerReport, WorkerSetup};
