//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types, reason = "tests")]

mod faults_document;
mod faults_schedule;
mod import;
mod keys;
mod network;
mod peers;
mod peers_rates;
mod ps;
mod rates;
mod renamed;
mod sites;
mod switch_ports;
mod switched;
mod two_levels;
