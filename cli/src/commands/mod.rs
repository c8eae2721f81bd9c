//! One file or folder per command; each has `Args` and `run`. Commands that run on networks of every kind
//! have a file per kind: `aggregation`, `sites`, `peers` and `ps`.

pub mod apply;
mod client;
mod control;
pub mod controller;
pub mod decisions;
pub mod decode;
pub mod diff;
pub mod doctor;
pub mod document;
mod drawing;
pub mod emulate;
pub mod experiment;
mod flags;
pub mod host;
pub mod jobs;
pub mod late;
pub mod network;
pub mod output;
mod peers;
pub mod plan;
mod plans;
pub mod ports;
mod ps;
pub mod remove;
pub mod replan;
pub mod rollback;
mod scheme;
mod security;
pub mod simulate;
mod sites;
pub mod status;
mod status_socket;
pub mod switch;
pub mod topology;
pub mod values;

/// Returns the commands that run on networks of several kinds, for tests of all their flags.
#[cfg(test)]
pub fn by_network() -> [(&'static str, Vec<crate::line::Entry>); 6] {
    use crate::line::ByNetwork;
    [
        (plan::Plan::NAME, plan::Plan::entries()),
        (simulate::Simulate::NAME, simulate::Simulate::entries()),
        (emulate::Emulate::NAME, emulate::Emulate::entries()),
        (apply::Apply::NAME, apply::Apply::entries()),
        (diff::Diff::NAME, diff::Diff::entries()),
        (host::Host::NAME, host::Host::entries()),
    ]
}
