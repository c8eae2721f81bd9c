//! State of a host of an elastic job.

use inart_controller::membership::MemberRole;
use inart_elastic::{Gate, LeaveReason, Progress};
use inart_wire::{Incarnation, PlanVersion};

use super::audit::{What, digest};
use crate::event_queue::ProcessId;

/// A host of an elastic job.
#[derive(Debug)]
pub(crate) struct Member {
    pub name: String,
    pub process: ProcessId,
    pub is_worker: bool,
    pub incarnation: Incarnation,
    pub at: At,
    pub progress: Progress,
    /// State that its program trains.
    pub state: Vec<f32>,
    /// Number that scheduled events must match; others are void.
    pub token: u32,
}

/// Activity of a host.
#[derive(Debug)]
pub(crate) enum At {
    /// Process not running.
    Dead,
    /// Asking for a view, with the view that it left and why.
    Asking(Option<(PlanVersion, LeaveReason)>),
    Running(Box<Running>),
    /// All rounds done.
    Done,
    /// Job deleted.
    Ended,
}

/// A host's part in a view.
#[derive(Debug)]
pub(crate) struct Running {
    /// Number of the view, as the daemon counts.
    pub view: u32,
    pub plan_version: PlanVersion,
    pub gate: Gate,
    pub place: MemberRole,
    pub newest: usize,
    pub activity: Activity,
    /// Tensors that were started.
    pub started: u32,
    /// Last tensor, and a digest of what the program passed in.
    pub what: Option<(What, u64)>,
    /// Whether it is a server whose view was aborted.
    pub lingers: bool,
}

/// Activity of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// A server serves; a worker's program computes.
    Else,
    /// Waiting until it may start the next tensor.
    AtGate(Sum),
    /// Tensor being summed.
    Summing(Sum),
}

/// Purpose of a worker's tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    Gradient,
    Load,
}

impl Running {
    /// Returns whether it is a worker whose program computes.
    pub fn computes(&self) -> bool {
        matches!((self.place, self.activity), (MemberRole::Worker(_), Activity::Else))
    }
}

impl Member {
    pub fn new(
        name: String,
        process: ProcessId,
        is_worker: bool,
        incarnation: Incarnation,
        values: usize,
    ) -> Self {
        let mut member = Self {
            name,
            process,
            is_worker,
            incarnation,
            at: At::Asking(None),
            progress: Progress::new(0),
            state: vec![0.0; values],
            token: 0,
        };
        member.begin_incarnation(incarnation);
        member
    }

    /// Starts its process.
    pub fn begin_incarnation(&mut self, incarnation: Incarnation) {
        (self.incarnation, self.at, self.progress) = (incarnation, At::Asking(None), Progress::new(0));
        // Weights that differ from those of all other hosts.
        self.state.fill(incarnation.get() as f32);
        self.token += 1;
    }

    /// The rounds that it ends with, and a digest of its state, if it has done all.
    pub fn done_with(&self) -> Option<(u64, u64)> {
        (self.is_worker && matches!(self.at, At::Done)).then(|| (self.progress.rounds(), digest(&self.state)))
    }

    pub fn incarnations(&self) -> bool {
        !matches!(self.at, At::Dead)
    }
}
