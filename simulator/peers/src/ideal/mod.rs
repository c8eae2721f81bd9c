//! Predictions: trainings whose updates are fluid on ports that multicasts share, without chunks, messages
//! and a coordinator.

mod bsp;
mod draw;
mod ssp;

pub use bsp::{Rounds, run_rounds};
pub use draw::Draw;
pub use ssp::{Ssp, SspOptions, run_ssp};
