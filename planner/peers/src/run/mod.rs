//! Trainings in virtual time.

mod bsp;
mod draw;
mod ssp;

pub use bsp::{Rounds, run_rounds};
pub use draw::Draw;
pub use ssp::{Ssp, SspOptions, run_ssp};
