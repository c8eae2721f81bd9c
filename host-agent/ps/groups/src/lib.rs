//! R²SP between groups of workers, InArt inside each: the processes of parameter servers and workers.
//!
//! Before its first turn a group sums the settings that its workers must share with all others ([`Agreed`]).
//!
//! Each group is an InArt job of its own, whose gradients switches aggregate. A server's process
//! ([`RackServer`]) serves all groups and holds its part of the model. Before its gradient a group sums a
//! small tensor, *ready*, whose answer the server withholds until the group's turn; then the gradient's sum
//! is added to the model chunk by chunk, in the order of turns, and the answer is the change of the model
//! since the group's last turn. No message is added to InArt's, and servers do not communicate with each
//! other: turns visit the groups in a fixed order ([`inart_protocol_ps::Turns`]).

#![forbid(unsafe_code)]

mod agreed;
mod error;
mod group_state;
mod part;
mod server;
mod shape;
mod waits;
mod worker;

pub use agreed::Agreed;
pub use error::{PartError, RackError};
pub use part::{Part, TurnEvent};
pub use server::{Ending, RackGroup, RackServer};
pub use shape::Shape;
pub use worker::{RackWorker, Turn};
