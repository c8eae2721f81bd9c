//! Sites, and their scheduler.

mod inside;
pub mod site;
