//! What commands on networks of peers share.

pub mod own;
