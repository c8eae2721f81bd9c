//! Runs the flat program on a packet's state.

mod arch;
mod checksum;
mod computed;
mod diverted;
mod headers;
mod machine;
mod parser;
mod run;
mod stateful;
mod table;
mod wide;

pub(crate) use diverted::Diverted;
pub(crate) use machine::{Machine, Scratch};
