//! Hosts and the state machines on them.

use std::collections::VecDeque;
use std::time::Duration;

use inart_core::{Assignment, AssignmentError, Failure, Instant, Machine, ServerShard, WorkerFlow};
use inart_wire::{Incarnation, ShardId, WorkerId};

use crate::agenda::{ChannelId, FrameId, MachineId};

/// The last frames of each host that come into its job's next run as well.
pub(crate) const LATE_FRAMES: usize = 32;
/// How many of every host's last frames a hostile one knows.
pub(crate) const OVERHEARD: usize = 4;

/// A host: one interface, and the processes that listen on it.
#[derive(Debug)]
pub(crate) struct Host {
    /// The way out of its interface.
    pub channel: ChannelId,
    pub machines: Vec<MachineId>,
    /// How many faults hold it still.
    pub paused: u32,
    /// Frames that came meanwhile.
    pub inbox: Vec<FrameId>,
    /// The last frames it sent, at most `remember`, newest first.
    pub sent: VecDeque<Vec<u8>>,
    pub remember: usize,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// It has the sum of its last round.
    Done,
    /// It was told why there is none.
    Failed(Failure),
    /// It was killed.
    Killed,
}

/// A worker and where it is in its job.
#[derive(Debug)]
pub(crate) struct Worker {
    pub flow: WorkerFlow,
    pub rank: WorkerId,
    /// The round it is in, from 0.
    pub round: u32,
    pub end: Option<End>,
}

/// A process.
#[derive(Debug)]
pub(crate) enum Role {
    Worker(Worker),
    Server(ServerShard, ShardId),
    /// A server that was killed.
    Gone(ShardId),
}

/// A process with its one timer.
#[derive(Debug)]
pub(crate) struct Process {
    /// Index of its job.
    pub job: usize,
    /// Index of its node.
    pub host: usize,
    pub role: Role,
    /// When it wakes by itself; later or earlier wake-ups planned are void.
    pub wake_at: Option<u64>,
}

impl Process {
    pub fn worker(
        assignment: &Assignment,
        job: usize,
        host: usize,
        rank: WorkerId,
        incarnation: Incarnation,
        patience: Duration,
    ) -> Result<Self, AssignmentError> {
        let flow = WorkerFlow::new(assignment.clone(), rank, incarnation, patience)?;
        let role = Role::Worker(Worker { flow, rank, round: 0, end: None });
        Ok(Self { job, host, role, wake_at: None })
    }

    pub fn server(
        assignment: &Assignment,
        job: usize,
        host: usize,
        shard: ShardId,
        incarnation: Incarnation,
        patience: Duration,
    ) -> Result<Self, AssignmentError> {
        let server = ServerShard::new(assignment.clone(), shard, incarnation, patience)?;
        Ok(Self { job, host, role: Role::Server(server, shard), wake_at: None })
    }

    /// The state machine, unless the process has ended.
    pub fn machine(&mut self) -> Option<&mut dyn Machine> {
        match &mut self.role {
            Role::Worker(worker) if worker.end.is_none() => Some(&mut worker.flow),
            Role::Server(server, _) => Some(server),
            Role::Worker(_) | Role::Gone(_) => None,
        }
    }

    /// Until when to sleep, if longer than what is planned already; at least a nanosecond. `late` is how late timers go off.
    pub fn sleep(&mut self, now: u64, late: impl FnOnce() -> u64) -> Option<u64> {
        let deadline = self.machine()?.next_deadline().map(Instant::as_nanos)?.max(now + 1);
        if self.wake_at.is_some_and(|planned| planned <= deadline) {
            return None;
        }
        let wake_at = deadline.saturating_add(late());
        self.wake_at = Some(wake_at);
        Some(wake_at)
    }
}
