//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod best;
mod exact;
mod own;
mod schemes;
mod stated;
mod support;
mod two_levels;
