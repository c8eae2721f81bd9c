//! Fuzz targets: each takes any bytes, and panics if the code under it does, or violates its guarantees.
//!
//! `cargo test -p inart-fuzz` runs them over the files of `seeds/` and `regressions/`; `make fuzz` runs them
//! with libFuzzer.

pub mod bmv2;
mod edit;
pub mod frame;
pub mod frame_link;
pub mod hosts;
mod libfuzzer;
pub mod network;
pub mod own_plan;
pub mod p4ir;
pub mod p4runtime;
pub mod peers_agent;
pub mod plan;
pub mod ps_agent;
pub mod sites_agent;
pub mod switch;
pub mod tna;

/// A target and its name.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 13] = [
    ("frame", frame::run),
    ("network", network::run),
    ("plan", plan::run),
    ("bmv2", bmv2::run),
    ("p4runtime", p4runtime::run),
    ("hosts", hosts::run),
    ("switch", switch::run),
    ("tna", tna::run),
    ("p4ir", p4ir::run),
    ("own_plan", own_plan::run),
    ("sites_agent", sites_agent::run),
    ("peers_agent", peers_agent::run),
    ("ps_agent", ps_agent::run),
];
