//! Peers, and their coordinator.

pub mod connections;
pub mod coordinator;
pub mod peer;
pub mod schedule;
