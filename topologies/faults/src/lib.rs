//! Fault schedules, as `inart_topologies::faults` has them.

pub use inart_topologies::faults::*;
