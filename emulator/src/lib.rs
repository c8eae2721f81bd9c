//! See the workspace's ARCHITECTURE.md.

pub mod auditor;
mod child;
pub mod fault;
pub mod namespace;
mod packet;
pub mod relay;
pub mod scale;
mod scratch;
pub mod wiring;
#[cfg(test)]
mod wiring_tests;
