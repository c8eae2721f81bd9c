//! Networks of sites: data centers and the links between them, and the networks inside them.

mod entries;
mod links;
mod network;
mod read;
mod scaled;
mod two_levels;
mod validate;

pub use network::{ArcId, MOST_CHUNK_BYTES, MOST_CHUNKS, Overlay, Rates, SiteId, SiteJob, SiteLink};
pub(crate) use read::build;
pub use two_levels::{CHUNK_UNIT_BYTES, Contributor, Hierarchy, Inside};

pub use crate::trace::Trace;
