//! All tests of this crate but those with folders of their own: one program is built sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod campaign;
mod changes;
mod clairvoyant;
mod congestion;
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
