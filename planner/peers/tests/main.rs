//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod exact;
mod own;
mod reselect;
mod scaled;
mod schemes;
mod support;
