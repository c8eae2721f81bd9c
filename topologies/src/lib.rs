//! Networks and fault schedules as people write them: YAML or JSON. One reader, one writer, one list of keys
//! for all kinds of networks.
//!
//! [`Network::read`] opens a document once, [`Network::kind`] is the kind of its nodes, and
//! [`Network::to_yaml`] writes it back. A document is first read into its entries ([`document`]), which know
//! the line that they stand on; [`switched`], [`sites`], [`peers`] and [`ps`] build their networks from them.
//! [`read`] opens files; all else is pure.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod document;
mod error;
pub mod faults;
pub mod former;
mod kind;
mod network;
mod one_line;
pub mod peers;
pub mod ps;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place that opens files and waits for pipes"
)]
pub mod read;
mod renamed;
pub mod sites;
mod switch_port;
pub mod switched;
mod trace;
pub mod units;

pub use document::MOST_NAME_BYTES;
pub use error::NetworkError;
pub use kind::Kind;
pub use network::Network;
pub use one_line::one_line;
pub use ps::Switched;
pub use read::ReadError;
pub use trace::Trace;
