//! Runs the tests that need root, for network namespaces and raw sockets, as one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod documented;
mod hosts;
mod interface;
mod kept;
mod order_clients;
mod order_emulated;
mod order_frames;
mod order_processes;
mod order_racks;
mod own_plans_emulated;
mod peers_emulated;
mod peers_on_switch;
mod peers_on_two_switches;
mod peers_switched;
#[allow(dead_code, reason = "the other program uses other parts")]
mod support;
mod watched;
mod wide_area;
