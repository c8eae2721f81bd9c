//! Trainings in virtual time.

mod bsp;
mod ssp;

pub use bsp::{Rounds, run_rounds};
pub use ssp::{Ssp, SspOptions, run_ssp};

/// How `orpheus` draws receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Anew for each update.
    Random,
    /// Once; these stay.
    Fixed,
}
