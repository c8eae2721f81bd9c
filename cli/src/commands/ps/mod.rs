//! Shared by commands for parameter servers.

pub mod absent;
pub mod clients;
pub mod common;
pub mod dtype;
pub mod no_plan;
pub mod workers;
