//! R²SP between groups of workers, InArt inside them, in virtual time: groups use the servers in turn.

mod error;
mod report;
mod run;

pub use error::RackRunError;
pub use report::{GroupRun, RackRun};
pub use run::{RackEvent, RackOptions, run_racks, run_racks_watched};
