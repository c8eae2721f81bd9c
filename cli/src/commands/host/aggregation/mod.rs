//! Hosts of jobs whose gradients the network sums.

pub mod server;
pub mod worker;
