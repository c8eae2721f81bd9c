//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod campaign;
mod changes;
mod clairvoyant;
mod congestion;
mod controllers;
mod exact;
mod fairness;
mod faults;
mod follow;
mod gone;
mod hostile;
mod jumbo;
mod loss;
mod mistakes;
mod numbers;
mod onward;
mod planned;
mod repeat;
mod runs;
mod size;
mod support;
mod systematic;
