//! What the emulations of all systems share: one way to run processes and to hear them.

pub mod cables;
pub mod crew;
