//! The planner: computes from a topology and a job a plan with the aggregation point of every gradient, its
//! rate, and a bound on the distance to the optimum.
//!
//! Pure functions without I/O and without a clock (`clippy.toml` refuses both): text in, plans out, time as
//! an argument.
//!
//! ```
//! use inart_planner_aggregation::{Options, check, plan, schemes};
//! use inart_topologies::switched::Topology;
//!
//! let topology = Topology::from_yaml(
//!     "{name: pair, nodes: [{name: v, kind: switch, aggregation_capacity: 6 Gbps}, {name: s, kind: server},
//!       {name: a, kind: worker}, {name: b, kind: worker}],
//!       links: [{ends: [a, v], rate: 3 Gbps}, {ends: [b, v], rate: 3 Gbps}, {ends: [s, v], rate: 3 Gbps}]}",
//! )?;
//! let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::LBMM))?;
//! assert_eq!(plan.rate_bps, 1.5e9);
//! assert!(check(&topology, &plan).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod alternatives;
mod bisect;
mod bounds;
mod check;
mod choices;
mod classes;
mod dag;
mod draft;
pub mod draw;
mod finish;
mod fractional;
mod integer;
mod jobs;
mod levels;
mod lp;
mod model;
mod occupied;
mod options;
mod packing;
mod passes;
mod phase1;
mod placement;
pub mod plan;
mod plan_error;
mod problem;
mod racks;
mod relaxation;
mod replan;
mod results;
mod router;
mod routes;
pub mod schemes;
mod search;
mod sharing;

mod solve;
mod steiner;
mod whole;

// Tests in here share the networks of those in `tests/`, which know the crate by its name.
#[cfg(test)]
extern crate self as inart_planner_aggregation;

pub use alternatives::alternatives;
pub use check::{Sustainable, Violation, check, held_by_results, sustainable_rate};
pub use choices::{Levels, Paths, Results};
pub use draft::Draft;
pub use jobs::{
    JobPlans, Order, check_jobs, plan_again, plan_all, plan_jobs, plan_joining, sustainable_rates,
};
pub use occupied::Occupied;
pub use options::{Options, Problem, Promises, Scheme, SeveralJobs, Shares};
pub use plan::{Limit, PLAN_FORMAT, Plan};
pub use plan_error::PlanError;
pub use relaxation::{LpMethod, lp_bound, lp_bound_over};
pub use solve::plan;
