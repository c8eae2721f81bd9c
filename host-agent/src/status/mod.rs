//! Status of hosts and other processes, which a socket of each answers with.

mod process;
mod socket;

pub use process::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, awaited_workers};
pub use socket::{HostStatus, InterfaceStatus, StatusReport, StatusSocket, StatusWatch, ask};
