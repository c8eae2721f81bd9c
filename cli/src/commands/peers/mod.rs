//! Shared by commands on networks of peers.

pub mod own;
