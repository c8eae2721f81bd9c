//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod invariants;
mod lockstep;
mod mutants;
mod pairing;
mod reduction;
mod rendezvous;
mod tofino;
