//! Namespaces, cables, processes and other parts of this machine that the emulations of all systems use.

pub mod cables;
pub(crate) mod capacity;
pub(crate) mod certificates;
pub(crate) mod child;
pub mod crew;
pub(crate) mod failure_reason;
pub mod fault;
pub mod namespace;
pub(crate) mod permission;
pub mod relay;
pub mod scale;
pub(crate) mod scratch;
pub(crate) mod shaping;
pub(crate) mod switches;
pub(crate) mod traffic;
pub(crate) mod veth;
pub mod wiring;
#[cfg(test)]
mod wiring_tests;
