//! Replanning: estimates the state of a network from observations, and decides whether another plan is
//! worth a change.
//!
//! Pure: no clock (time is an argument), no I/O, no planning of its own. The owner of a [`Steering`] passes
//! an [`Observation`] per interval, runs the planner for each [`PlanRequest`], passes the plans back, and
//! carries out the [`Decision`] if it is a change.
//!
//! ```
//! use std::time::Duration;
//!
//! use inart_planner_aggregation::{Options, plan, schemes};
//! use inart_topologies::switched::Topology;
//! use inart_steering::{LinkSeen, Observation, Outcome, ReplanThresholds, Steering};
//!
//! let topology = Topology::from_yaml(
//!     "{name: ways, nodes: [{name: a, kind: switch}, {name: b, kind: switch}, {name: c, kind: switch},
//!       {name: s, kind: server}, {name: w, kind: worker}],
//!       links: [{ends: [w, a], rate: 3 Gbps}, {ends: [a, b], rate: 3 Gbps}, {ends: [a, c], rate: 3 Gbps},
//!       {ends: [c, b], rate: 3 Gbps}, {ends: [b, s], rate: 3 Gbps}]}",
//! )?;
//! let first = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED))?;
//! let mut steering = Steering::new(topology.clone(), vec![first], ReplanThresholds::default());
//! let node = |name| topology.node_named(name).ok_or("a node of the topology");
//! let second = Duration::from_secs(1);
//! let mut seen = Observation::unknown(&topology, second);
//! seen.record(&topology, node("a")?, node("b")?, LinkSeen::up(1.2e9, 1.8e9));
//! assert!(steering.observe(second, &seen).is_none(), "one interval may be a burst");
//! let request = steering.observe(2 * second, &seen).ok_or("two are not")?;
//! let plans = request.plan(schemes::OPTIMIZED, &|| f64::INFINITY)?;
//! let answer = steering.answer(2 * second, request.number, Ok(&plans), Duration::ZERO);
//! let decision = answer.ok_or("the request is open")?;
//! assert!(decision.is_change() && decision.gain > Some(2.0), "{decision}");
//! steering.done(2 * second, Outcome::Done, plans);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod congestion;
mod decision;
mod external_changes;
mod failures;
mod full_links;
mod observation;
mod plan_request;
mod steering;
mod thresholds;

pub use background::Background;
pub use decision::{Decision, JobRates, Outcome, Trigger, Verdict};
pub use failures::{Failures, Part};
pub use observation::{HostSeen, LinkSeen, Observation, SwitchSeen};
pub use plan_request::{PlanRequest, Shares};
pub use steering::Steering;
pub use thresholds::ReplanThresholds;
