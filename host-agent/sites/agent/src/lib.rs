//! Agent of a site, a data center that trains with others: gradients and their exact sums, messages, the
//! [`Driver`] around `inart_protocol_sites::Site`, and the [`Scheduler`]. The driver exchanges hellos with
//! neighbors, starts rounds, requests missing chunks, measures links, and lets restarted sites join. The
//! scheduler plans from the sites' measurements.
//!
//! No I/O and no clock: the owner passes in events with their time, and performs the returned actions.

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
pub use wait::{Lacking, StallCause, Wait, Waiting};
