//! See the workspace's ARCHITECTURE.md.

pub mod auditor;
pub mod chart;
mod child;
pub mod fault;
pub mod figures;
pub mod namespace;
mod packet;
pub mod relay;
pub mod scale;
mod scratch;
mod table;
pub mod wiring;
#[cfg(test)]
mod wiring_tests;
