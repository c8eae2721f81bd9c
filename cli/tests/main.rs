//! Runs the tests that need no root as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod apply;
mod bad_input;
#[path = "../../switch/tests/bf_rt/mod.rs"]
mod bf_rt;
mod both_levels;
mod documents;
mod experiment;
mod flags;
mod formats;
mod host;
mod jobs;
mod netstorm;
mod newcomer;
mod own_plans;
mod peer_processes;
mod peers;
mod ports;
mod ps;
mod ps_faults;
mod read_once;
mod remove;
mod simulate;
mod site_faults;
mod site_waits;
mod sites;
#[allow(dead_code, reason = "the other program uses other parts")]
mod support;
mod switch;
mod tls;
mod tls_failures;
mod tofino;
mod topology;
mod watch;
