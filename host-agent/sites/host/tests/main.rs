//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/certificates.rs"]
mod certificates;
mod documents;
mod inside;
#[path = "../../../ps/host/tests/support/loopback.rs"]
mod loopback;
mod not_finite;
mod restarts;
#[path = "support/three.rs"]
mod three;
