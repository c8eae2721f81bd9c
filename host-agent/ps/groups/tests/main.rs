//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod faults;
mod in_process;
mod support;
mod terms;
