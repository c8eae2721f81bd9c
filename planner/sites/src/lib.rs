//! Planner for networks of sites: data centers that train one model over slow, unequal and changing links
//! (NETSTORM). From a network and a job, it computes the trees along which chunks are reduced and broadcast,
//! and the time of a round.
//!
//! Pure functions without I/O and without a clock.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod auxiliary;
mod awareness;
mod best;
mod bounds;
mod candidate;
mod carried;
mod check;
mod chunks;
mod graph;
mod latency;
mod own;
mod packing;
mod plan;
mod plan_error;
mod planning;
mod policy;
mod proof;
mod rounds;
mod scheme;
mod schemes;
mod two_levels;

pub use auxiliary::Disjoint;
pub use awareness::{Table, Tuning};
pub use check::check;
pub use chunks::cut;
pub use inart_protocol_sites::{AuxiliaryChoice, AuxiliaryUse, TransmissionPolicy};
pub use inart_virtual::Sharing;
pub use own::{OwnPlan, OwnTree, complete};
pub use plan::{AuxiliaryPaths, Bounds, PLAN_FORMAT, Plan, PlanTree, chunk_sizes};
pub use plan_error::PlanError;
pub use planning::{
    kept_plan_and_policy, longest_chunk, plan, plan_and_policy, plan_with_chunks, predicted_seconds,
};
pub use policy::policy;
pub use rounds::{Ended, Network, Sample, sending};
pub use scheme::Scheme;
pub use schemes::Options;
pub use two_levels::{HierarchyError, HierarchyPlan, InsidePlan, plan_two_levels};
