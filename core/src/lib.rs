//! The INART protocol's state machines, without I/O and without a clock: time is an argument, frames come in
//! and go out as bytes, so that host agents and simulations drive the same code.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod assignment;

pub use assignment::{Assignment, AssignmentError, ShardAssignment, WorkerAddress};
