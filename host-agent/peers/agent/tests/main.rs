//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod averaging;
mod bounds;
mod breaking;
mod campaign;
mod coordinating;
mod own;
mod processes;
mod restarting;
