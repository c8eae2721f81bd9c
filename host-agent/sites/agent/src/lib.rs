//! What a data centre runs to train with others: gradients and their exact sums, messages, and the [`Driver`]
//! around `inart_protocol_sites::Site` that meets its neighbours, begins rounds, asks, measures and lets a
//! site that has restarted join; and the [`Scheduler`] that plans by what sites measure.
//!
//! No I/O and no clock: the owner says what arrived and when, and does what it is told.

mod agreed;
pub mod audit;
mod counters;
mod detour;
mod driver;
pub mod gradient;
mod incoming;
mod inside;
mod lanes;
mod limits;
pub mod message;
mod message_error;
mod plan_check;
pub mod policy_message;
mod process;
mod scheduler;
mod scheduling;
mod setup;
mod state;
mod transfers;
mod version;
mod wait;

pub use counters::AgentCounters;
pub use driver::{Driver, DriverError, Output, Peer};
pub use inside::{Inside, InsideError, Ready};
pub use limits::most_bytes;
pub use message_error::MessageError;
pub use plan_check::PlanFault;
pub use process::{SiteCommand, SiteNews, SiteProcess};
pub use scheduler::{Scheduler, Task};
pub use scheduling::{SchedulerNews, SchedulerProcess};
pub use setup::{Setup, SetupError};
pub use state::{MOST_STATE_BYTES, PART_BYTES, TrainingState};
pub use version::version;
pub use wait::{Lacking, Obstacle, Wait, Waiting};
