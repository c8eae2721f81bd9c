//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types, reason = "tests")]

mod faults_document;
mod faults_schedule;
mod keys;
mod network;
mod rates;
