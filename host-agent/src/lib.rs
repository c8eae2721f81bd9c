//! Worker and server processes: `inart-core`'s state machines around a raw Ethernet socket.

pub mod report;
