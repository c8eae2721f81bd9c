//! One file per command; each has `Args` and `run`.

pub mod topology;
pub mod plan;
pub mod push;
pub mod diff;
pub mod rollback;
pub mod worker;
pub mod server;
pub mod switch;
pub mod emulate;
pub mod decode;
mod control;
mod host;
