//! Networks of sites: data centres that train one model over links that are slow, unequal and changing
//! (NETSTORM). From a network and a job to trees along which chunks are reduced and broadcast, and the rounds
//! that follow, in virtual time.
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
mod insides;
mod latency;
mod own;
mod packing;
mod plan;
mod plan_error;
mod planning;
mod policy;
mod proof;
mod rounds;
mod run;
mod scheme;
mod schemes;
mod two_levels;

pub use auxiliary::Disjoint;
pub use awareness::{Table, Tuning};
pub use check::check;
pub use chunks::cut;
pub use inart_protocol_sites::{AuxiliaryChoice, AuxiliaryUse, Policy};
pub use inart_virtual::Sharing;
pub use insides::{InsideRound, InsideRun, InsideTimes, run_with_insides};
pub use own::{OwnPlan, OwnTree, complete};
pub use plan::{AuxiliaryPaths, Bounds, Plan, PlanTree, chunk_sizes};
pub use plan_error::PlanError;
pub use planning::{longest_chunk, plan, plan_and_policy, plan_with_chunks, predicted_seconds};
pub use policy::policy;
pub use run::{Knowledge, Round, Run, RunError, RunOptions, Until, run};
pub use scheme::Scheme;
pub use schemes::Options;
pub use two_levels::{HierarchyError, HierarchyPlan, InsidePlan, plan_two_levels};
