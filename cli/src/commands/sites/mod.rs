//! What commands on networks of sites share.

pub mod both_levels;
pub mod own;
