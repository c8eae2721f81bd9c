//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod fixed_seeds;
mod predictions;
mod simulation;
#[path = "../../../planner/sites/tests/support/mod.rs"]
mod support;
mod tuned;
mod two_levels;
