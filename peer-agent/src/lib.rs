//! A peer of decentralised training, and the coordinator that chooses receivers, as state machines without I/O and
//! without a clock. docs/protocol.md, "Peers".

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]
