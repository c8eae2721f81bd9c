//! The clock that all processes of a machine share.

pub use inart_report::monotonic_ns;
