//! All tests of this crate but those with folders of their own: one program is built sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod driver;
mod gradients;
mod inside;
mod scheduler;
