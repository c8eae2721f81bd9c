//! Runs the tests of this crate as one program, because cargo links one program faster than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod steering;
mod support;
mod triggers;
