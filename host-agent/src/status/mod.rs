//! Status of hosts and other processes, which a socket of each answers with.

mod process;
mod socket;

pub use process::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher};
pub use socket::{HostStatus, InterfaceStatus, StatusReport, StatusSocket, StatusWatch, ask};
