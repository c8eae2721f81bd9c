//! What a data centre runs to train with others: gradients and their exact sums, messages, and the [`Driver`]
//! around `inart_sites::Site` that meets its neighbours, begins rounds, asks, measures and lets a site that
//! has restarted join; and the [`Scheduler`] that plans by what sites measure.
//!
//! No I/O and no clock: the owner says what arrived and when, and does what it is told.

pub mod audit;
mod counters;
mod detour;
mod driver;
pub mod gradient;
mod inside;
mod lanes;
pub mod message;
mod message_error;
pub mod policy_message;
mod scheduler;
mod setup;

pub use counters::AgentCounters;
pub use driver::{Driver, DriverError, Output, Peer};
pub use inside::{Inside, InsideError, Ready};
pub use message_error::MessageError;
pub use scheduler::{Scheduler, Task};
pub use setup::{Setup, SetupError};
