//! The document of a network as people write it (YAML, or JSON, which is YAML too): one set of entries, one
//! parser and one writer for all kinds of networks.

mod at;
mod checks;
mod entries;
mod field;
mod keys;
mod parse;
mod part;
mod per_host;
mod sections;
mod traces;
mod words;
mod write;

pub use at::At;
pub use checks::MOST_NAME_BYTES;
pub(crate) use checks::{needed, required, unknown, usable};
pub use entries::{
    BackgroundEntry, Document, JobEntry, LinkEntry, NodeEntry, Section, Sum, TimeEntry, TraceEntry, section,
};
pub use field::Field;
pub use keys::Key;
pub use part::Part;
pub use per_host::PerHost;
pub use sections::KEYS;
pub(crate) use traces::trace;
