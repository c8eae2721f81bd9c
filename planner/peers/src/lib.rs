//! Networks of peers: workers of decentralized training behind one switch fabric, each of which sends its
//! update to some of the others (SELMCAST). Computes the receivers of each update from a topology and a job.
//!
//! Pure functions without I/O and without a clock.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod assignment;
mod check;
mod equal;
mod gate;
mod network;
mod own;
mod pairs;
mod plan;
mod plan_error;
mod planning;
mod problem;
mod scheme;
mod schemes;
mod sharing;
mod unequal;

pub use check::check;
pub use gate::Gate;
pub use inart_virtual::SplitMix64;
pub use network::Round;
pub use own::{OwnPlan, complete, receivers};
pub use pairs::{Pairs, Waits};
pub use plan::{Bounds, PLAN_FORMAT, Plan, PlanTask};
pub use plan_error::PlanError;
pub use planning::{Options, plan, receivers_random};
pub use problem::{Multicast, Problem};
pub use scheme::Scheme;
pub use schemes::{
    Guard, Reading, Reselected, Setting, Task, bound_seconds, join, receivers_of, reselect, select,
};
pub use sharing::{Session, Sharing, rates};
