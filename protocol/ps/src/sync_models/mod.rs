//! The synchronization models: one file each.

mod asp;
mod bsp;
mod r2sp;
mod safa;
mod ssp;

pub use asp::Asp;
pub use bsp::Bsp;
pub use r2sp::{Applied, R2sp};
pub use safa::Safa;
pub use ssp::{Blocking, Ssp};
