//! A host of an elastic job: what it is at.

use inart_controller::membership::MemberRole;
use inart_elastic::{Gate, Left, Progress};
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
    /// What its program trains.
    pub state: Vec<f32>,
    /// What is planned for it is void unless it has this number.
    pub token: u32,
}

/// What a host is at.
#[derive(Debug)]
pub(crate) enum At {
    /// Its process is gone.
    Dead,
    /// It asks for a view; the view that it left, and how.
    Asking(Option<(PlanVersion, Left)>),
    Running(Box<Running>),
    /// It has done all its rounds.
    Done,
    /// It was told that the job is gone.
    Ended,
}

/// A host's part in a view.
#[derive(Debug)]
pub(crate) struct Running {
    /// As the daemon counts runs.
    pub view: u32,
    pub plan_version: PlanVersion,
    pub gate: Gate,
    pub place: MemberRole,
    pub newest: usize,
    pub doing: Doing,
    /// Tensors that were started.
    pub started: u32,
    /// The last of them, and a digest of what the program passed in.
    pub what: Option<(What, u64)>,
    /// Whether it is a server whose view was aborted.
    pub lingers: bool,
}

/// What a member does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// A server serves; a worker's program computes.
    Else,
    /// It waits until it may start the next tensor.
    AtGate(Sum),
    /// Its tensor is being summed.
    Summing(Sum),
}

/// What a worker's tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    Gradient,
    Load,
}

impl Running {
    /// Whether it is a worker whose program computes.
    pub fn computes(&self) -> bool {
        matches!((self.place, self.doing), (MemberRole::Worker(_), Doing::Else))
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

    /// Its process begins.
    pub fn begin_incarnation(&mut self, incarnation: Incarnation) {
        (self.incarnation, self.at, self.progress) = (incarnation, At::Asking(None), Progress::new(0));
        // Weights that nobody else has.
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
