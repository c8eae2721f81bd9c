//! Processes in virtual time: machines of any system, on links of any kind, with faults.
//!
//! A [`World`] runs one [`Machine`](inart_connections::Machine) per process. [`Links`] carry its messages. A
//! [`Program`] starts processes, takes their reports and sends them commands: it acts as the training
//! program, and audits. Faults occur at given times: processes crash and restart, connections end, links
//! change. No clock and no I/O: equal arguments give equal runs.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod connections;
mod fault;
mod later;
mod links;
mod program;
mod world;

pub use fault::Fault;
pub use later::Later;
pub use links::{LinkEvent, Links, Transfer};
pub use program::Program;
pub use world::{Stuck, Timing, World};
