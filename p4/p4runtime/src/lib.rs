//! P4Runtime for Rust: the generated types, an index of a program's P4Info, a typed layer over table entries,
//! and a client with arbitration.
//!
//! - [`p4`] and [`google`]: the messages and the service, generated from `proto/`.
//! - [`Schema`]: names of a program's tables, actions and counters, and their numbers.
//! - [`Entry`]: a table entry in names, encoded to and decoded from [`p4::v1::TableEntry`].
//! - [`Client`]: one connection to one device in one role.

mod client;
mod codec;
mod entry;
mod error;
mod schema;
mod update;
mod value;

pub use client::{
    Answer, Arbitration, Client, ClientError, DeviceId, ElectionId, Event, OwnError, Packet, Pipeline,
    PipelineAction, Target,
};
pub use codec::EntryError;
pub use entry::{ActionCall, Counts, Entry, Match, Matches, OneShot, TableAction};
pub use error::{update_errors, update_errors_status};
pub use inart_rpc::{UpdateError, WriteError};
pub use inart_tls::Security;
pub use schema::{Kind, Schema, SchemaError};
pub use tonic::Code;
pub use value::{Value, ValueError};

#[allow(missing_docs, clippy::all, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/protos.rs"));
}
pub use generated::{google, p4};

/// Protocol buffer descriptors of every message in this crate (a serialized `FileDescriptorSet`).
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
