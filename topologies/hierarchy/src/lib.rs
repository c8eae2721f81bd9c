//! Both levels in virtual time: [`Timeline`] says where a round's time goes. Pure; no clock, no I/O.

mod timeline;

pub use timeline::{Timeline, timeline};
