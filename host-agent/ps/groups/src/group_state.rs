//! A server's state of a group.

use inart_host_agent::SumsBack;
use inart_host_agent::status::{HostStatus, StatusReport, StatusWatch};
use inart_protocol_aggregation::{ServerCounters, ServerStatus};

/// A server's state of a group.
pub(crate) struct GroupState {
    pub job: String,
    pub workers: Vec<String>,
    pub back: SumsBack,
    pub watch: StatusWatch,
    pub ended: Option<ServerCounters>,
    pub has_ended: bool,
}

impl GroupState {
    /// Returns the last status of the group's server, with its age in seconds; `None` before the first.
    pub fn status(&self) -> Option<(ServerStatus, f64)> {
        match self.watch.report()? {
            StatusReport { age_seconds, status: HostStatus::Server(status), .. } => {
                Some((status, age_seconds))
            }
            StatusReport { status: HostStatus::Worker(_), .. } => None,
        }
    }

    /// Returns whether no worker of the group has ever sent a frame.
    pub fn is_empty(&self) -> bool {
        self.status().is_none_or(|(status, _)| status.heard_seconds.iter().all(Option::is_none))
    }
}
