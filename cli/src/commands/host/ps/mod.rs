//! Parameter servers, their workers and clients, alone or in groups.

pub mod connections;
mod ended;
pub mod group_server;
pub mod group_worker;
pub mod learner;
pub mod server;
pub mod worker;
