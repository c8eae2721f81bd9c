//! Shared by commands on networks of sites.

pub mod both_levels;
pub mod own;
