//! Runs the tests that need root, for network namespaces and raw sockets, as one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod interfaces;
mod offloads;
mod support;
#[cfg(feature = "xdp")]
mod xdp;
