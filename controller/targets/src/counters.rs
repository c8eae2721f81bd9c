//! What a switch counted.

use std::collections::BTreeMap;

use inart_p4::{Outcome, Reason};
use inart_tables::{PortNo, SteerAction, SteerKey, UpdatesKey};
use inart_wire::JobId;

/// Frames and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames.
    pub packets: i64,
    /// Bytes of those frames.
    pub bytes: i64,
}

/// The counters of one switch since its program was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SwitchCounters {
    /// By [`Reason::index`].
    pub drops: Vec<Counts>,
    /// By [`Outcome::index`].
    pub outcomes: Vec<Counts>,
    /// Entries of `steer`, what they do, and the frames that hit them: gradients, partials, and, at the port
    /// of the worker itself, its control frames.
    pub steer: BTreeMap<SteerKey, (SteerAction, Counts)>,
    /// Entries of `updates`, and the frames that hit them: updates, and, at the port of the peer itself, its
    /// messages.
    pub updates: BTreeMap<UpdatesKey, Counts>,
    /// Copies of updates between peers that died since nobody behind the port was a receiver, by the switch's
    /// own number of the port; empty of a target that does not count them.
    pub unwanted: Vec<Counts>,
}

/// What went over one port since the program was loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortTraffic {
    /// INART frames that came in.
    pub ours_in: Counts,
    /// Other frames that came in.
    pub others_in: Counts,
    /// INART frames that went out.
    pub ours_out: Counts,
    /// Other frames that went out.
    pub others_out: Counts,
}

/// What a switch is asked for again and again by who watches it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// By port.
    pub ports: BTreeMap<PortNo, PortTraffic>,
    /// By [`Outcome::index`].
    pub outcomes: Vec<Counts>,
}

impl SwitchCounters {
    /// Frames dropped for a reason.
    pub fn drops(&self, reason: Reason) -> Counts {
        self.drops.get(reason.index()).copied().unwrap_or_default()
    }

    /// Copies of updates that nobody behind a port wanted, by the switch's own number of the port.
    pub fn unwanted(&self, number: u64) -> Counts {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.unwanted.get(index).copied().unwrap_or_default()
    }

    /// Gradients and partials that something became of.
    pub fn outcome(&self, outcome: Outcome) -> Counts {
        self.outcomes.get(outcome.index()).copied().unwrap_or_default()
    }

    /// Frames that went into a sum here, of all jobs: each once, repeats not counted.
    pub fn summed(&self) -> i64 {
        [Outcome::SlotClaimed, Outcome::Added, Outcome::Completed]
            .map(|outcome| self.outcome(outcome).packets)
            .iter()
            .sum()
    }

    /// Frames of one job that came to be added here, under any plan version that still has its entries;
    /// repeats and frames that were passed on unsummed count too.
    pub fn offered(&self, job: JobId) -> i64 {
        let of_job = self.steer.iter().filter(|(key, _)| key.job == job);
        of_job
            .filter(|(_, (action, _))| matches!(action, SteerAction::Add { .. }))
            .map(|(_, (_, c))| c.packets)
            .sum()
    }
}
