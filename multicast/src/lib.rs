//! One peer's update on its way to the receivers that were chosen for it: state machines without I/O and without
//! a clock. docs/protocol.md, "Multicast".

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]
