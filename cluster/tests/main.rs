//! All tests of this crate but those with folders of their own: one program is built sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod closed_forms;
mod delays;
mod document;
mod judged;
mod noise;
mod racks;
mod reference;
