//! BFRuntime for Rust, the control protocol of Tofino's driver: the generated types, an index of a program's
//! `bf-rt.json`, a typed layer over table entries, and a client.
//!
//! - [`bfrt_proto`] and [`google`]: the messages and the service, generated from `proto/`.
//! - [`Info`]: names of a program's tables, actions and fields, and their numbers.
//! - [`Entry`]: a table entry in names, encoded to and decoded from [`bfrt_proto::TableEntry`].
//! - [`Client`]: one connection to one device, bound to one program or to none.

mod change;
mod client;
mod codec;
mod entry;
mod error;
mod group;
mod info;
mod port;

pub use change::{Batch, Change, Operation};
pub use client::{
    Answer, Client, ClientError, ClientId, Configs, DeviceId, Event, OwnError, Profile, Program, Target,
};
pub use codec::EntryError;
pub use entry::{Entry, Match, Value};
pub use error::{update_errors, update_errors_status};
pub use group::Group;
pub use inart_rpc::{UpdateError, WriteError};
pub use inart_tls::Security;
pub use info::{Action, DataField, DataType, Info, InfoError, KeyField, MatchType, Table, TableKind};
pub use port::{Fec, PortCounts, PortSettings, PortState, Speed};
pub use tonic::Code;

#[allow(missing_docs, deprecated, clippy::all, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/protos.rs"));
}
pub use generated::{bfrt_proto, google};

/// Protocol buffer descriptors of every message in this crate (a serialized `FileDescriptorSet`).
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
