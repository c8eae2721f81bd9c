//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod agreement;
mod campaign;
mod closed_forms;
mod delays;
mod judged;
mod mistakes;
mod noise;
mod racks;
mod reference;
