//! Runs the tests that need no root as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod in_process;
mod migration;
mod report;
