//! Tables that a daemon keeps on the switches: jobs, switches and start times.

use std::collections::BTreeMap;
use std::time::Instant;

use inart_wire::JobId;

use crate::intent::Network;
use crate::peers::Peers;

/// Job of peers whose tables the daemon keeps. Its hosts do not use the controller.
#[derive(Debug, Clone)]
pub(super) struct CopiedJob {
    pub job: JobId,
    pub name: String,
    pub peers: usize,
    pub since: Instant,
}

/// Active tables.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveTables {
    pub copied: Vec<CopiedJob>,
    switches: BTreeMap<JobId, Vec<String>>,
}

impl ActiveTables {
    /// Sets the jobs of peers.
    pub fn set_peers(&mut self, peers: Option<&Peers>) {
        let since = Instant::now();
        let jobs = peers.into_iter().flat_map(Peers::jobs);
        let jobs =
            jobs.map(|(job, of)| CopiedJob { job, name: of.name.clone(), peers: of.peers.len(), since });
        self.copied = jobs.collect();
    }

    /// Sets the tables of every switch.
    pub fn set_tables(&mut self, desired: &Network) {
        self.switches.clear();
        for (switch, tables) in desired {
            for job in tables.jobs() {
                self.switches.entry(job).or_default().push(switch.clone());
            }
        }
    }

    /// Returns the switches with entries of a job.
    pub fn switches(&self, job: JobId) -> Vec<String> {
        self.switches.get(&job).cloned().unwrap_or_default()
    }
}
