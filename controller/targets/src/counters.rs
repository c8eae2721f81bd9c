//! Counters of a switch.

use std::collections::BTreeMap;

use inart_p4::{Outcome, Reason};
use inart_tables::{PortNo, SteerAction, SteerKey, UpdatesKey};
use inart_wire::JobId;

/// Frames and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames.
    pub packets: i64,
    /// Bytes of the frames.
    pub bytes: i64,
}

/// Counters of one switch since its program was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SwitchCounters {
    /// Drops by [`Reason::index`].
    pub drops: Vec<Counts>,
    /// Outcomes by [`Outcome::index`].
    pub outcomes: Vec<Counts>,
    /// Entries of `steer`, their actions, and the frames that hit them: gradients, partials, and, at the
    /// port of the worker itself, its control frames.
    pub steer: BTreeMap<SteerKey, (SteerAction, Counts)>,
    /// Entries of `updates`, and the frames that hit them: updates, and, at the port of the peer itself,
    /// its messages.
    pub updates: BTreeMap<UpdatesKey, Counts>,
    /// Copies of updates that were pruned since no receiver is behind the port, by the number of the port
    /// on the switch; empty for a target that does not count them.
    pub unwanted: Vec<Counts>,
}

/// Traffic of one port since the program was loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortTraffic {
    /// Received INART frames.
    pub ours_in: Counts,
    /// Received other frames.
    pub others_in: Counts,
    /// Sent INART frames.
    pub ours_out: Counts,
    /// Sent other frames.
    pub others_out: Counts,
}

/// Counters of a switch that are read periodically.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Traffic by port.
    pub ports: BTreeMap<PortNo, PortTraffic>,
    /// Outcomes by [`Outcome::index`].
    pub outcomes: Vec<Counts>,
}

impl SwitchCounters {
    /// Returns the frames dropped for a reason.
    pub fn drops(&self, reason: Reason) -> Counts {
        self.drops.get(reason.index()).copied().unwrap_or_default()
    }

    /// Returns the copies of updates without a receiver behind a port, by the number of the port on the
    /// switch.
    pub fn unwanted(&self, number: u64) -> Counts {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.unwanted.get(index).copied().unwrap_or_default()
    }

    /// Returns the gradients and partials with an outcome.
    pub fn outcome(&self, outcome: Outcome) -> Counts {
        self.outcomes.get(outcome.index()).copied().unwrap_or_default()
    }

    /// Returns the frames that were added to a sum here, of all jobs: each once, without repeats.
    pub fn summed(&self) -> i64 {
        [Outcome::SlotClaimed, Outcome::Added, Outcome::Completed]
            .map(|outcome| self.outcome(outcome).packets)
            .iter()
            .sum()
    }

    /// Returns the frames of one job that arrived for aggregation here, under any plan version that still
    /// has its entries; repeats and frames that were forwarded without summing count too.
    pub fn offered(&self, job: JobId) -> i64 {
        let of_job = self.steer.iter().filter(|(key, _)| key.job == job);
        of_job
            .filter(|(_, (action, _))| matches!(action, SteerAction::Add { .. }))
            .map(|(_, (_, c))| c.packets)
            .sum()
    }
}
