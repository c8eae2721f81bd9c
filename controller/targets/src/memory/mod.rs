//! Switch in memory: keeps entries, refuses duplicates, enforces sizes, and fails at chosen updates. For
//! tests, and for previews of an installation.

mod switch;
mod target;

pub use switch::{Failpoint, Memory};
pub use target::InMemory;
