//! R²SP between racks, InArt inside them.
//!
//! The workers of a job are divided into groups. Inside a group switches aggregate gradients, by a plan of
//! the group alone, and the group's sum is one update. Groups use the servers in turn: in its turn a group
//! pushes its sum, and the model returns to its workers chunk by chunk, as sums are applied.

mod choose;
mod divide;
mod error;
mod plans;

pub use choose::{Choice, Considered, candidate_racks, choose_racks};
pub use divide::{divide, racks_of};
pub use error::RackError;
pub use plans::{Group, Racks};
