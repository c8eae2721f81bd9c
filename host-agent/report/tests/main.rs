//! Runs the tests as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod lines;
