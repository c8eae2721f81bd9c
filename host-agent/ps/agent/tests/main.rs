//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod campaign;
mod checkpoints;
mod exploration;
mod frames;
mod groups;
mod trainings;
