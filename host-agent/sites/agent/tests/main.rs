//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod campaign;
mod driver;
mod gradients;
mod hostile;
mod inside;
mod links;
mod passing;
mod scheduler;
mod states;
mod waiting;
