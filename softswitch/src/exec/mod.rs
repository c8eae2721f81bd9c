//! Runs the flat program on a packet's state.

mod checksum;
mod computed;
mod headers;
mod machine;
mod parser;
mod run;
mod stateful;
mod table;
mod wide;

pub(crate) use machine::{Machine, Scratch};
