//! Runs the tests of this crate as one program, because cargo links one program faster than many.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../../switch/tests/bf_rt/mod.rs"]
mod bf_rt;
mod memory;
mod tofino_session;
