//! What switches and hosts said.

use std::collections::{BTreeMap, BTreeSet};

use inart_core::{ServerStatus, WorkerStatus};
use inart_tables::SteerKey;
use inart_targets::SwitchCounters;
use inart_wire::JobId;

/// A switch that runs our program.
#[derive(Debug, Clone, Default)]
pub struct SwitchView {
    /// Its counters when it was first looked at.
    pub before: SwitchCounters,
    /// And a moment later, longer than a worker waits before it retransmits a chunk.
    pub after: SwitchCounters,
}

impl SwitchView {
    /// Frames that hit an entry of `steer` in between.
    pub(super) fn hits(&self, key: &SteerKey) -> i64 {
        let packets =
            |counters: &SwitchCounters| counters.steer.get(key).map_or(0, |(_, counts)| counts.packets);
        packets(&self.after) - packets(&self.before)
    }
}

/// What is known of a switch.
#[derive(Debug, Clone)]
pub enum SwitchState {
    /// It runs our program.
    Ours(Box<SwitchView>),
    /// It cannot be asked, or runs something else; in words.
    Silent(String),
}

/// What the hosts said. Ages are in seconds, and are added to the spans in the status.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Workers that answered, the later answer of two.
    pub workers: Vec<(f64, WorkerStatus)>,
    /// Servers that answered, the later answer of two.
    pub servers: Vec<(f64, ServerStatus)>,
    /// Shards whose server completed a chunk in between.
    pub moving: BTreeSet<(JobId, u16)>,
    /// Hosts that did not answer, by name, and what came of the attempt.
    pub silent: BTreeMap<String, String>,
}
