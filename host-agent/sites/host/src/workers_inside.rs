//! Workers inside a site, as seen by their parameter server.

use std::time::Duration;

use inart_connections::WaitWatch;
use inart_host_agent::status::{HostStatus, ProcessWait, StatusReport, StatusWatch, awaited_workers};
use inart_protocol_aggregation::ServerStatus;

/// Workers inside a site, and when a wait for them is logged.
pub(crate) struct WorkersInside {
    /// Names of the workers, by rank.
    workers: Vec<String>,
    watch: StatusWatch,
    log: WaitWatch<Vec<String>>,
}

impl WorkersInside {
    pub fn new(workers: Vec<String>, watch: StatusWatch) -> Self {
        Self { workers, watch, log: WaitWatch::default() }
    }

    /// Returns the last status of the parameter server, with its age in seconds.
    fn report(&self) -> Option<(ServerStatus, f64)> {
        match self.watch.report()? {
            StatusReport { age_seconds, status: HostStatus::Server(status), .. } => {
                Some((status, age_seconds))
            }
            StatusReport { status: HostStatus::Worker(_), .. } => None,
        }
    }

    /// Returns the last status of the parameter server.
    pub fn status(&self) -> Option<ServerStatus> {
        Some(self.report()?.0)
    }

    /// Returns the workers whose gradients the site waits for.
    pub fn awaited(&self) -> Vec<ProcessWait> {
        self.report().map(|(status, age)| awaited_workers(&status, &self.workers, age)).unwrap_or_default()
    }

    /// Returns a description of the workers that the site waits for, and the duration of the wait, if it must
    /// be logged now. `awaits`: whether the site waits for them.
    pub fn due(&mut self, awaits: bool, has_begun: bool) -> Option<(String, Duration)> {
        let waits = if awaits { self.awaited() } else { Vec::new() };
        let names: Vec<_> = waits.iter().map(|wait| wait.on.clone()).collect();
        let waited = self.log.due(Some(names).filter(|names| !names.is_empty()), !has_begun)?;
        let each: Vec<_> = waits.iter().map(|wait| format!("{} ({})", wait.on, wait.why)).collect();
        Some((each.join(", "), waited))
    }
}
