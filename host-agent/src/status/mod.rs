//! Status of hosts and other processes, served by a socket of each.

mod process;
mod socket;

pub use process::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, awaited_workers};
pub use socket::{HostStatus, InterfaceStatus, StatusReport, StatusSocket, StatusWatch, ask};
