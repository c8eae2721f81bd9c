//! Jobs of peers whose updates switches copy: whether their frames move.

use std::collections::BTreeMap;
use std::fmt;

use inart_targets::SwitchCounters;
use inart_wire::JobId;
use serde::Serialize;

use super::view::SwitchState;
use crate::kind::JobKind;
use crate::peers::Peers;

/// Finding on a job of peers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeersFinding {
    /// The job's name.
    pub job: String,
    /// Its number.
    pub number: JobId,
    /// How many peers it has.
    pub peers: usize,
    /// Switches that answered and hold its entries.
    pub switches: Vec<String>,
    /// Whether frames of it arrived at one of these while they were watched.
    pub moves: bool,
}

impl fmt::Display for PeersFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {} ({}): ", self.job, JobKind::Peers)?;
        match (self.moves, &*self.switches) {
            (true, _) => f.write_str("it moves"),
            (false, []) => f.write_str("no switch that answered holds its entries"),
            (false, switches) => write!(
                f,
                "none of its frames arrived at {} meanwhile: its peers compute, wait, or do not run",
                switches.join(", ")
            ),
        }
    }
}

/// Finds out whether the frames of each job of peers move.
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
