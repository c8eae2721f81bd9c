//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod checkpoints;
mod endings;
#[path = "support/loopback.rs"]
mod loopback;
mod support;
mod two_hundred;
