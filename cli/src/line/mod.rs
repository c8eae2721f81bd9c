//! The command line of commands that run on a network of any kind. The network's document selects the
//! implementation, so one parser reads all flags as text, and the kind's own arguments then give them types.
//!
//! A command lists its [`Entry`]s, one for each kind. [`flags::flags_of`] makes of them the one table of
//! flags: the parser, `--help` and the refusals come from it.

mod entry;
pub mod flags;
mod needs;
mod reading;
pub mod section;

pub use entry::{Entry, Invocation, OnNetwork};
pub use reading::{ByNetwork, Given, Line, Words};
