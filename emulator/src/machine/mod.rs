//! Shared by the emulations of all systems: crews of processes, and cables.

pub mod cables;
pub mod crew;
