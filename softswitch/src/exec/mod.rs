//! Runs the flat program on a packet's state.

mod checksum;
mod headers;
mod machine;
mod parser;
mod stateful;
mod table;

pub(crate) use machine::{Machine, Scratch};
