//! Hosts and the state machines on them.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use inart_protocol_aggregation::{
    Assignment, AssignmentError, Failure, Instant, NonFinite, RoundRecord, StateMachine, TensorId,
    TensorInput, WorkerFlow,
};
use inart_wire::{Incarnation, Rank, ShardId};

use crate::event_queue::{ChannelId, FrameId, ProcessId};
use crate::server::Server;

/// Number of last frames of each host that also arrive in its job's next run.
pub(crate) const LATE_FRAMES: usize = 32;
/// Number of every host's last frames that a hostile host knows.
pub(crate) const OVERHEARD: usize = 4;

/// A host: one interface, and the processes that listen on it.
#[derive(Debug)]
pub(crate) struct Host {
    /// Outgoing channel of its interface.
    pub channel: ChannelId,
    pub processes: Vec<ProcessId>,
    /// Number of faults that pause it.
    pub paused: u32,
    /// Frames that arrived while it was paused.
    pub inbox: Vec<FrameId>,
    /// The last frames it sent, at most `remember`, newest first.
    pub sent: VecDeque<Vec<u8>>,
    pub remember: usize,
}

/// End of a worker.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// Sum of the last round received.
    Done,
    /// Failure reported to the program.
    Failed(Failure),
    /// Process killed.
    Killed,
}

/// A worker and where it is in its job.
#[derive(Debug)]
pub(crate) struct Worker {
    pub flow: WorkerFlow,
    pub rank: Rank,
    /// The round it is in, from 0.
    pub round: u32,
    /// The tensors of that round.
    tensors: Vec<TensorId>,
    /// Contribution and result of the previous round.
    ended: Option<RoundRecord>,
    pub end: Option<End>,
}

impl Worker {
    /// Starts a round: all tensors that the gradient is cut into, at once, with the program's label.
    pub fn start_round(&mut self, now: Instant, gradient: &[f32], tensors: usize, label: &str) {
        self.tensors.clear();
        for part in cut(gradient.len(), tensors) {
            // An error is reported again at the round's end.
            let input = TensorInput::from(gradient[part].to_vec()).with_label(label);
            self.tensors.extend(self.flow.start(now, input));
        }
    }

    /// Ends a completed round.
    pub fn finish_round(&mut self) -> Result<RoundRecord, Failure> {
        self.flow.check()?;
        let mut ended = RoundRecord::default();
        for tensor in self.tensors.drain(..) {
            ended.append(self.flow.finish(tensor)?.record());
        }
        self.ended = Some(ended.clone());
        Ok(ended)
    }

    /// Ends a completed round of one tensor, and writes its sum.
    pub fn finish_tensor(&mut self, sum: &mut Vec<f32>) -> Result<RoundRecord, Failure> {
        self.flow.check()?;
        let mut ended = RoundRecord::default();
        for tensor in self.tensors.drain(..) {
            let reduced = self.flow.finish(tensor)?;
            sum.resize(reduced.len(), 0.0);
            reduced.read(sum);
            ended.append(reduced.record());
        }
        Ok(ended)
    }

    /// Returns its contribution to the current round so far, and the result.
    pub fn record(&self) -> Option<RoundRecord> {
        if self.tensors.is_empty() {
            return self.ended.clone();
        }
        let mut record = RoundRecord::default();
        for tensor in &self.tensors {
            record.append(self.flow.record_of(*tensor)?);
        }
        Some(record)
    }
}

/// Returns the number of tensors (at most `wanted`) that a gradient of `len` values is cut into: each is
/// longer than the one before.
pub(crate) fn tensor_count(len: usize, wanted: u32) -> usize {
    (1..=wanted.max(1) as usize).rev().find(|tensors| weights(*tensors) <= len).unwrap_or(1)
}

fn weights(tensors: usize) -> usize {
    tensors * (tensors + 1) / 2
}

/// Returns the ranges of a gradient of `len` values cut into `tensors` tensors.
pub(crate) fn cut(len: usize, tensors: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    (1..=tensors).map(move |tensor| {
        let end = if tensor == tensors { len } else { start + len * tensor / weights(tensors) };
        std::mem::replace(&mut start, end)..end
    })
}

/// Role of a process.
#[derive(Debug)]
pub(crate) enum Role {
    Worker(Worker),
    Server(Server, ShardId),
    /// A server that was killed.
    Gone(ShardId),
    /// Host of an elastic job outside any view, or server of a deleted job.
    Absent,
}

/// A process with its one timer.
#[derive(Debug)]
pub(crate) struct Process {
    /// Index of its job.
    pub job: usize,
    /// Index of its node.
    pub host: usize,
    pub role: Role,
    /// Last assignment from the controller, used for a restart.
    pub assignment: Assignment,
    /// Scheduled wake-up; others are void.
    pub wake_at: Option<u64>,
}

impl Process {
    /// Creates a worker with a peer timeout and a rule for NaN and infinity.
    pub fn worker(
        assignment: &Assignment,
        job: usize,
        host: usize,
        rank: Rank,
        incarnation: Incarnation,
        (peer_timeout, handling): (Duration, NonFinite),
    ) -> Result<Self, AssignmentError> {
        let flow = WorkerFlow::new(assignment.clone(), rank, incarnation, peer_timeout)?;
        let flow = flow.with_non_finite(handling);
        let role = Role::Worker(Worker { flow, rank, round: 0, tensors: Vec::new(), ended: None, end: None });
        Ok(Self { job, host, role, assignment: assignment.clone(), wake_at: None })
    }

    /// Creates a server with a peer timeout, which may forward its sums.
    pub fn server(
        assignment: &Assignment,
        job: usize,
        host: usize,
        shard: ShardId,
        incarnation: Incarnation,
        (peer_timeout, forwards_sums): (Duration, bool),
    ) -> Result<Self, AssignmentError> {
        let server = Server::new(assignment, shard, incarnation, peer_timeout, forwards_sums)?;
        Ok(Self {
            job,
            host,
            role: Role::Server(server, shard),
            assignment: assignment.clone(),
            wake_at: None,
        })
    }

    /// The state machine, unless the process has ended.
    pub fn state_machine(&mut self) -> Option<&mut dyn StateMachine> {
        match &mut self.role {
            Role::Worker(worker) if worker.end.is_none() => Some(&mut worker.flow),
            Role::Server(server, _) => Some(server.state_machine()),
            Role::Worker(_) | Role::Gone(_) | Role::Absent => None,
        }
    }

    /// Schedules a wake-up if it is earlier than the scheduled one, at least one nanosecond from now. `late`
    /// returns the timer's delay.
    pub fn sleep(&mut self, now: u64, late: impl FnOnce() -> u64) -> Option<u64> {
        let deadline = self.state_machine()?.next_deadline().map(Instant::as_nanos)?.max(now + 1);
        if self.wake_at.is_some_and(|planned| planned <= deadline) {
            return None;
        }
        let wake_at = deadline.saturating_add(late());
        self.wake_at = Some(wake_at);
        Some(wake_at)
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, tensor_count};

    #[test]
    fn tensors_are_of_different_lengths() {
        let lens = |len, wanted| {
            let parts = cut(len, tensor_count(len, wanted));
            parts.map(|part| part.len()).collect::<Vec<_>>()
        };
        assert_eq!(lens(100, 1), [100]);
        assert_eq!(lens(100, 3), [16, 33, 51]);
        assert_eq!((lens(6, 3), lens(5, 3), lens(0, 3)), (vec![1, 2, 3], vec![1, 4], vec![0]));
    }
}
