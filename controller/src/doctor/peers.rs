//! Jobs of peers whose updates switches copy: whether their frames are in motion.

use std::collections::BTreeMap;
use std::fmt;

use inart_targets::SwitchCounters;
use inart_wire::JobId;
use serde::Serialize;

use super::view::SwitchState;
use crate::kind::JobKind;
use crate::peers::Peers;

/// Finding about a job of peers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeersFinding {
    /// Name of the job.
    pub job: String,
    /// Number of the job.
    pub number: JobId,
    /// Number of peers.
    pub peers: usize,
    /// Switches that answered and hold its entries.
    pub switches: Vec<String>,
    /// Whether frames of the job arrived at one of these during the observation.
    pub moves: bool,
}

impl fmt::Display for PeersFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {} ({}): ", self.job, JobKind::Peers)?;
        match (self.moves, &*self.switches) {
            (true, _) => f.write_str("making progress"),
            (false, []) => f.write_str("no switch that answered holds its entries"),
            (false, switches) => write!(
                f,
                "none of its frames arrived at {} meanwhile: its peers compute, wait, or do not run",
                switches.join(", ")
            ),
        }
    }
}

/// Checks for each job of peers whether its frames are in motion.
pub fn examine_peers(peers: &Peers, switches: &BTreeMap<String, SwitchState>) -> Vec<PeersFinding> {
    let views = || {
        switches.iter().filter_map(|(name, state)| match state {
            SwitchState::Ours(view) => Some((name, view)),
            SwitchState::Silent(_) => None,
        })
    };
    let frames = |counters: &SwitchCounters, job: JobId| {
        let of_job = counters.updates.iter().filter(|(key, _)| key.job == job);
        of_job.map(|(_, counts)| counts.packets).sum::<i64>()
    };
    let found = peers.jobs().map(|(number, job)| {
        let holding = views().filter(|(_, view)| view.after.updates.keys().any(|key| key.job == number));
        PeersFinding {
            job: job.name.clone(),
            number,
            peers: job.peers.len(),
            switches: holding.map(|(name, _)| name.clone()).collect(),
            moves: views().any(|(_, view)| frames(&view.after, number) > frames(&view.before, number)),
        }
    });
    found.collect()
}
