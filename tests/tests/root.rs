//! Runs the tests that need root, for network namespaces and raw sockets, as one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod both_levels_processes;
mod doctor;
mod elastic;
mod emulation;
mod faults;
mod following;
mod mininet;
mod own_programs;
mod plan_changes;
mod python;
mod tags;
mod tofino_jobs;
