//! A switch that is a value: keeps entries, refuses duplicates, enforces sizes, and fails when told to. For
//! tests, and for who wants to know what a push would do.

mod switch;
mod target;

pub use switch::{Failpoint, Memory};
pub use target::InMemory;
