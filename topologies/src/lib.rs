//! Networks as people write them: YAML or JSON. One reader for all kinds of networks.
//!
//! [`Network::read`] opens a document once, [`Network::kind`] is the kind of its nodes, and
//! [`Network::to_yaml`] writes it back.

mod kind;
mod network;
pub mod read;

pub use inart_planner::TopologyError as NetworkError;
pub use kind::Kind;
pub use network::{Network, Switched};
pub use read::ReadError;
