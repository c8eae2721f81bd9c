//! All tests of this crate but those with folders of their own: one program is built sooner than many.

mod driver;
mod gradients;
mod inside;
mod scheduler;
