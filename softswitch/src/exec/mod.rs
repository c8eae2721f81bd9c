//! Runs the flat program on a packet's state.

mod arch;
mod checksum;
mod computed;
mod headers;
mod machine;
mod parser;
mod run;
mod stateful;
mod table;
mod wide;

pub(crate) use arch::Diverted;
pub(crate) use machine::{Machine, Scratch};
