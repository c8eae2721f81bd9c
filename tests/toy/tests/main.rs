//! A fifth system that only this test has, as "Add a system" in CONTRIBUTING.md builds one: processes in a
//! ring that sum a value of each.
#![allow(clippy::unwrap_used, reason = "tests")]

mod audit;
mod in_virtual_time;
#[path = "../../../host-agent/ps/host/tests/support/loopback.rs"]
mod loopback;
mod over_quic;
mod ring;
