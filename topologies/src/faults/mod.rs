//! Fault schedules: faults of links and processes, and their times.
//!
//! [`Faults`] is the document (see `docs/how-to/inject-faults.md`), with [quantities](quantity) that have
//! units. [`Schedule`] is the document on one network, a [`FaultNetwork`]: names are resolved, and entries
//! that the runner cannot execute are rejected. Simulators and emulators execute schedules. Pure functions:
//! no I/O, no clock.
//!
//! ```
//! use inart_topologies::faults::{Capabilities, Faults, Schedule};
//! use inart_topologies::switched::Topology;
//!
//! let topology = Topology::from_yaml(
//!     "{name: pair, nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}],
//!       links: [{ends: [w, v], rate: 3 Gbps}, {ends: [s, v], rate: 3 Gbps}]}",
//! )?;
//! let text = "{links: [{drop: 1%}], events: [{at: 2 ms, restart: v, duration: 20 ms}]}";
//! let faults = Faults::from_yaml(text)?;
//! let runner = Capabilities {
//!     controller: false,
//!     scheduler: false,
//!     frames: true,
//!     lasting: false,
//!     worker_restart: false,
//!     injection: true,
//!     rates: false,
//!     connections: false,
//!     tcp: false,
//!     frame_bytes: 64..=9000,
//! };
//! let schedule = Schedule::new(&topology, &faults, &runner)?;
//! assert_eq!(schedule.links[1][0].drop.get(), 0.01);
//! let (at, step) = schedule.steps[1];
//! assert_eq!((at.to_string(), step.describe(&topology)), ("22 ms".into(), "switch v started again".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
mod error;
mod place;
pub mod quantity;
mod schedule;
mod step;

pub use document::{Background, FaultEvent, Faults, LinkFaults, Protocol};
pub use error::Error;
pub use place::{FaultNetwork, NetworkLink, Role};
pub use schedule::{Capabilities, Flow, Schedule};
pub use step::{Lasting, Step, Victim};
