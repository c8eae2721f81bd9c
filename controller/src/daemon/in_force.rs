//! Tables that a daemon keeps on the switches: of which jobs, where and since when.

use std::collections::BTreeMap;
use std::time::Instant;

use inart_wire::JobId;

use crate::intent::Network;
use crate::peers::Peers;

/// A job of peers whose tables the daemon keeps. Its hosts do not ask the controller.
#[derive(Debug, Clone)]
pub(super) struct CopiedJob {
    pub job: JobId,
    pub name: String,
    pub peers: usize,
    pub since: Instant,
}

/// The tables in force.
#[derive(Debug, Clone, Default)]
pub(super) struct InForce {
    pub copied: Vec<CopiedJob>,
    switches: BTreeMap<JobId, Vec<String>>,
}

impl InForce {
    /// Notes the jobs of peers, from now on.
    pub fn copies(&mut self, peers: Option<&Peers>) {
        let since = Instant::now();
        let jobs = peers.into_iter().flat_map(Peers::jobs);
        let jobs =
            jobs.map(|(job, of)| CopiedJob { job, name: of.name.clone(), peers: of.peers.len(), since });
        self.copied = jobs.collect();
    }

    /// Notes what every switch is to hold.
    pub fn holds(&mut self, desired: &Network) {
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
