//! Runs the tests of this crate as one program, because cargo links one program faster than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod asked;
mod coordinated;
mod daemon;
mod doctor;
mod forming;
mod frames;
mod install;
mod jobs;
mod live;
mod live_plans;
mod membership;
mod membership_walk;
mod multicast;
mod pauses;
mod peers_beside;
mod peers_records;
mod pushed_scheme;
mod records;
mod remove;
mod rollback;
mod starting;
mod steered;
mod support;
mod switch_ports;
mod switches;
mod tables;
mod tofino_pushes;
#[path = "../../planner/aggregation/tests/toy/mod.rs"]
mod toy;
mod toy_target;
mod values;
mod watching;
