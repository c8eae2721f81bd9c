//! One file per command; each has `Args` and `run`.

mod control;
pub mod controller;
pub mod decode;
pub mod diff;
pub mod doctor;
pub mod emulate;
pub mod experiment;
mod flags;
mod host;
pub mod jobs;
pub mod order;
pub mod output;
pub mod peers;
pub mod plan;
pub mod ports;
pub mod push;
pub mod remove;
pub mod rollback;
mod scheme;
mod security;
pub mod server;
pub mod simulate;
pub mod sites;
mod stopping;
pub mod switch;
pub mod topology;
pub mod worker;
