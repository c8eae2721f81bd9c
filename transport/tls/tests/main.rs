//! Runs the tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod accept;
mod failures;
mod few_files;
mod support;
