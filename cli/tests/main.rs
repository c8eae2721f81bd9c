//! Tests that make no interfaces and train nothing: one program is built sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bad_input;
#[path = "../../softswitch/tests/bf_rt/mod.rs"]
mod bf_rt;
mod both_levels;
mod documents;
mod experiment;
mod jobs;
mod order;
mod peers;
mod ports;
mod push;
mod remove;
mod simulate;
mod sites;
mod support;
mod switch;
mod tls;
mod tofino;
mod topology;
mod watch;
