//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod closed_forms;
mod delays;
mod document;
mod judged;
mod noise;
mod racks;
mod reference;
