//! Both levels: data centres whose gradients are sums from switches inside, and trees between them.
//!
//! A [`Hierarchy`] is a document with sites, and nodes that are inside sites. [`plan`] plans an InArt job
//! inside each such site, whose parameter server is the site itself, and the trees between; [`Timeline`] says
//! where a round's time goes. Pure; no clock, no I/O.

mod error;
mod inside_plan;
mod timeline;

pub use error::HierarchyError;
pub use inart_topologies::sites::{CHUNK_UNIT_BYTES, Contributor, Hierarchy, Inside};
pub use inside_plan::{HierarchyPlan, InsidePlan, plan};
pub use timeline::{Timeline, timeline};
