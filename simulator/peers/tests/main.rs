//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod exact;
mod fixed_seeds;
mod peers_in_virtual_time;
mod predictions;
mod ssp;
#[path = "../../../planner/peers/tests/support/mod.rs"]
mod support;
