//! Runs the tests that need root, for network namespaces and raw sockets, as one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod documented;
mod hosts;
mod interface;
mod kept;
mod own_plans_emulated;
mod peers_beside;
mod peers_emulated;
mod peers_on_switch;
mod peers_on_two_switches;
mod peers_switched;
mod ps_clients;
mod ps_emulated;
mod ps_frames;
mod ps_groups;
mod ps_processes;
mod sites_emulated;
#[allow(dead_code, reason = "the other program uses other parts")]
mod support;
mod watched;
