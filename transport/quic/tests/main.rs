//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod connections;
mod guarantees;
mod limits;
mod refusals;
mod strangers;
mod support;
