//! A worker's side of the protocol.

mod abort;
mod busy;
mod congestion;
mod emit;
mod input;
mod non_finite;
mod plan_versions;
mod shard;
mod status;
mod tensor;
mod tensors;
mod transcript;
mod waiting;

use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{
    AbortReason, Awaited, ChunkSeq, ControlMessage, Flags, Frame, HeaderRepr, Incarnation, Kind, Rank,
    ShardId,
};

use crate::completion_rule::{ContributionRule, Lockstep, Receivers};
use crate::{Assignment, AssignmentError, Failure, Instant, StateMachine, WorkerCounters};
use abort::Abort;
use busy::Busy;
pub use input::TensorInput;
pub use non_finite::NonFinite;
use shard::ShardFlow;
use tensor::Refused;
pub use tensor::RoundRecord;
use tensors::Tensors;
pub use tensors::{Reduced, TensorId};
use transcript::History;

/// A worker of a job: sums tensors with the other workers.
///
/// [`start`](Self::start) begins with a tensor, and its owner drives it as every [`StateMachine`].
/// [`is_done`](Self::is_done) returns whether the tensor has ended, and [`finish`](Self::finish) returns the
/// result. Several tensors may be in flight; all workers start tensors of equal lengths in the same order.
/// For one tensor at a time, that is in *rounds*, use [`start_round`](Self::start_round),
/// [`is_idle`](Self::is_idle) and [`finish_round`](Self::finish_round).
#[derive(Clone, Debug)]
pub struct WorkerFlow<P = Lockstep> {
    assignment: Assignment,
    /// Assignment of the previous plan version, until it is closed.
    old: Option<Assignment>,
    completion_rule: P,
    rank: Rank,
    incarnation: Incarnation,
    peer_timeout: Duration,
    non_finite: NonFinite,
    flows: Vec<ShardFlow>,
    /// The shard that sent last.
    last_sent: usize,
    tensors: Tensors,
    history: History,
    /// Values of the frame being written.
    numbers: Vec<i32>,
    /// Tensor that was started last, and its sum once a round was finished.
    round: Option<(TensorId, Option<Reduced>)>,
    abort: Option<Abort>,
    /// Workers that keep this one waiting by the server's last answer, by shard.
    awaited: Vec<Option<Awaited>>,
    failure: Option<Failure>,
    counters: WorkerCounters,
    busy: Busy,
}

impl WorkerFlow {
    /// Number of tensors that may be in flight, or have an untaken sum, at one time.
    pub const MOST_TENSORS: usize = 1024;

    /// Creates an incarnation of the worker of that rank, named by `incarnation` (not 0). It aborts the job
    /// when a server it waits for is silent for longer than `peer_timeout`, or has not been heard from at all
    /// for [`STARTING_PEER_TIMEOUTS`](crate::STARTING_PEER_TIMEOUTS) times as long.
    ///
    /// # Errors
    /// [`AssignmentError`] for an assignment that contradicts itself, or a rank that the job does not have.
    pub fn new(
        assignment: Assignment,
        rank: Rank,
        incarnation: Incarnation,
        peer_timeout: Duration,
    ) -> Result<Self, AssignmentError> {
        Self::with_completion_rule(assignment, rank, incarnation, peer_timeout, Lockstep)
    }
}

impl<P: ContributionRule> WorkerFlow<P> {
    /// Creates a worker flow that uses `completion_rule` instead of `Lockstep`.
    ///
    /// # Errors
    ///
    /// The assignment is invalid.
    pub fn with_completion_rule(
        assignment: Assignment,
        rank: Rank,
        incarnation: Incarnation,
        peer_timeout: Duration,
        completion_rule: P,
    ) -> Result<Self, AssignmentError> {
        assignment.validate()?;
        assignment.worker(rank)?;
        let frame_bytes = assignment.values_per_frame.frame_bytes();
        let sizes = (assignment.window_chunks, assignment.workers.len() as u32);
        let flow = |rate_bps| ShardFlow::new(sizes, frame_bytes, rate_bps, peer_timeout);
        Ok(Self {
            flows: assignment.shards.iter().map(|shard| flow(shard.rate_bps)).collect(),
            completion_rule,
            last_sent: 0,
            rank,
            incarnation,
            peer_timeout,
            non_finite: NonFinite::default(),
            tensors: Tensors::default(),
            history: History::default(),
            numbers: Vec::new(),
            round: None,
            abort: None,
            awaited: alloc::vec![None; assignment.shards.len()],
            failure: None,
            counters: WorkerCounters::default(),
            busy: Busy::default(),
            old: None,
            assignment,
        })
    }

    /// Sets how tensors with NaN or infinity are handled.
    #[must_use]
    pub fn with_non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// Returns whether another tensor may be started.
    pub fn has_room(&self) -> bool {
        self.tensors.held() < WorkerFlow::MOST_TENSORS
    }

    /// Starts to sum `tensor` with the tensors that the other workers start in the same position. All started
    /// tensors are summed concurrently. The servers compare the lengths and the
    /// [labels](TensorInput::with_label) of the workers' tensors.
    ///
    /// # Errors
    ///
    /// A failure that ends the job; frames that notify the others may remain to be sent.
    ///
    /// # Panics
    ///
    /// If there is [no room](Self::has_room).
    pub fn start(&mut self, now: Instant, tensor: impl Into<TensorInput>) -> Result<TensorId, Failure> {
        self.check()?;
        let mut tensor = tensor.into();
        assert!(self.has_room(), "{} tensors are in flight", WorkerFlow::MOST_TENSORS);
        if self.non_finite == NonFinite::Abort
            && let Some(index) = tensor.first_not_finite()
        {
            let failure = Failure::NotFinite { index, value: tensor.floats()[index] };
            self.fail(now, failure.clone(), AbortReason::NotFinite, self.rank);
            return Err(failure);
        }
        self.history.add(tensor.floats().len(), tensor.take_label());
        let flows = &mut self.flows;
        let tensor =
            self.tensors.start(&self.assignment, tensor, |shard, frames| flows[shard].start(now, frames));
        self.busy.set(now, !self.is_idle());
        Ok(tensor)
    }

    /// Returns the failure of the job, if it failed.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self) -> Result<(), Failure> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Returns whether a tensor has ended: with its sum, or with a failure that all servers know of.
    pub fn is_done(&self, tensor: TensorId) -> bool {
        match &self.abort {
            Some(abort) => abort.is_done(),
            None => self.tensors.get(tensor).is_none_or(|tensor| tensor.is_done()),
        }
    }

    /// Returns the sum of a tensor that [is done](Self::is_done), and forgets the tensor.
    ///
    /// # Errors
    ///
    /// The failure that prevents the sum.
    ///
    /// # Panics
    ///
    /// If the tensor is not done, or its sum was already taken.
    pub fn finish(&mut self, tensor: TensorId) -> Result<Reduced, Failure> {
        self.check()?;
        Ok(self.tensors.take(tensor).expect("the tensor is done, and was not handed out"))
    }

    /// Returns a buffer for a tensor of `len` values: reused memory if available, with unspecified values.
    /// New memory works as well, but takes time to be mapped.
    pub fn room_for(&mut self, len: usize) -> TensorInput {
        self.tensors.take_input(len)
    }

    /// Keeps the memory of an unneeded sum for later tensors.
    pub fn reuse(&mut self, reduced: Reduced) {
        self.tensors.reuse(reduced);
    }

    /// Discards that tensor's sum.
    pub fn discard(&mut self, tensor: TensorId) {
        self.tensors.discard(tensor);
    }

    /// Returns whether nothing is left to send or wait for: all tensors have ended, in a sum or a failure.
    pub fn is_idle(&self) -> bool {
        match &self.abort {
            Some(abort) => abort.is_done(),
            None => self.flows.iter().all(ShardFlow::is_idle),
        }
    }

    /// Starts a round: a tensor that is finished before the next is started.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_round(&mut self, now: Instant, gradient: &[f32]) -> Result<(), Failure> {
        let tensor = self.start(now, gradient.to_vec())?;
        self.round = Some((tensor, None));
        Ok(())
    }

    /// Ends a round: writes the sum over all workers.
    ///
    /// # Errors
    ///
    /// The failure that prevents the sum.
    ///
    /// # Panics
    /// If the round has not ended, or `sum` is shorter than the gradient.
    pub fn finish_round(&mut self, sum: &mut [f32]) -> Result<(), Failure> {
        self.check()?;
        assert!(self.is_idle(), "the round has not ended");
        if let Some((tensor, None)) = self.round {
            self.round = Some((tensor, Some(self.finish(tensor)?)));
        }
        if let Some((_, Some(reduced))) = &self.round {
            reduced.read(sum);
        }
        Ok(())
    }

    /// Returns a bit-for-bit copy of the last round; `None` before the first.
    pub fn record(&self) -> Option<RoundRecord> {
        match &self.round {
            Some((_, Some(reduced))) => Some(reduced.record()),
            Some((tensor, None)) => self.record_of(*tensor),
            None => None,
        }
    }

    /// Returns the values of a tensor that this worker has sent so far, and the received ones; `None` once
    /// the sum was taken.
    pub fn record_of(&self, tensor: TensorId) -> Option<RoundRecord> {
        self.tensors.get(tensor).map(|tensor| tensor.numeric.record())
    }

    /// Returns the counters since the start.
    pub fn counters(&self) -> WorkerCounters {
        self.counters
    }

    /// Makes the sequence of every shard start there instead of at 0.
    #[cfg(test)]
    pub(crate) fn start_at(&mut self, sequence: ChunkSeq) {
        self.flows.iter_mut().for_each(|flow| flow.start_at(sequence));
    }

    /// Aborts the job because this worker was asked to stop.
    pub fn stop(&mut self, now: Instant) {
        let failure = Failure::aborted(&self.assignment, AbortReason::Stopped, self.rank);
        self.fail(now, failure, AbortReason::Stopped, self.rank);
    }

    fn is_for_this_worker(&self, frame: &Frame<&[u8]>, header: &HeaderRepr) -> bool {
        let assignment = &self.assignment;
        let multicast = self.completion_rule.receivers() == Receivers::Job;
        let Some(bitmap_index) = self.bitmap_index_in(header.plan_version, header.shard.index()) else {
            return false;
        };
        let to_all = header.kind == Kind::Result
            && multicast
            && frame.destination() == inart_wire::MacAddr::results_of(assignment.job);
        let to_me = (header.kind == Kind::Control || header.kind == Kind::Result && !multicast)
            && frame.destination() == assignment.workers[self.rank.index()].mac
            && header.worker == bitmap_index;
        header.job == assignment.job
            && frame.values_per_frame() == assignment.values_per_frame
            && assignment.shards.get(header.shard.index()).is_some_and(|shard| shard.mac == frame.source())
            && (to_all || to_me)
    }

    /// Processes a result; `follows` is true if it is the first one that makes this worker follow to another
    /// plan version.
    fn handle_result(&mut self, now: Instant, frame: &Frame<&[u8]>, header: &HeaderRepr, follows: bool) {
        let shard = header.shard.index();
        let bitmap_index =
            self.bitmap_index_in(header.plan_version, shard).unwrap_or(self.rank.bitmap_index());
        let old = self.plan_version_after(header) != self.assignment.plan_version;
        let flow = &mut self.flows[shard];
        flow.take_feedback(now, header.feedback().unwrap_or_default(), bitmap_index, old || follows);
        let Some(chunk) = flow.awaiting(header.sequence) else {
            match flow.is_answered(header.sequence) {
                true => self.counters.duplicates += 1,
                // A result that this worker should be in, and is not.
                false if self.completion_rule.requires(self.rank.index(), self.rank.index()) => {
                    self.counters.malformed += 1
                }
                false => self.counters.duplicates += 1,
            }
            return;
        };
        match self.tensors.store(shard, chunk, frame) {
            Ok(()) => {}
            Err(Refused::Malformed) => {
                self.counters.malformed += 1;
                return;
            }
            Err(Refused::Forgotten) => {
                let failure = Failure::aborted(&self.assignment, AbortReason::OtherNumbers, self.rank);
                return self.fail(now, failure, AbortReason::OtherNumbers, self.rank);
            }
        }
        let marked = header.flags.contains(Flags::CONGESTION);
        self.awaited[shard] = None;
        self.flows[shard].answer(now, chunk, marked, old);
        self.counters.results += 1;
        self.counters.marked += u64::from(marked);
        self.busy.set(now, !self.is_idle());
    }

    /// Processes a server's message to the worker whose incarnation is `host`.
    fn handle_message(
        &mut self,
        now: Instant,
        header: &HeaderRepr,
        message: ControlMessage,
        host: Incarnation,
    ) {
        let shard = header.shard.index();
        if host != self.incarnation || header.incarnation == Incarnation::UNKNOWN {
            self.counters.other_runs += 1;
            return;
        }
        self.flows[shard].heard(now);
        if matches!(message, ControlMessage::KeepAliveAnswer { .. }) {
            self.follow(now, shard, header.plan_version);
        }
        let is_known = self.flows[shard].meet(now, header.incarnation);
        if !is_known {
            let reason = AbortReason::ServerRestarted(header.shard);
            let failure = Failure::aborted(&self.assignment, reason, self.rank);
            self.fail(now, failure, reason, self.rank);
        }
        // Another incarnation is notified of the end, too: other workers may be in its run, and wait for this
        // one.
        if let Some(abort) = &mut self.abort {
            abort.meet(now, shard, header.incarnation);
        }
        if !is_known {
            return;
        }
        match message {
            ControlMessage::RequestBypass => {
                self.counters.requests += 1;
                if let Some(frame) = self.flows[shard].awaiting(header.sequence) {
                    self.flows[shard].request(now, frame);
                }
            }
            ControlMessage::Abort { reason, culprit } => self.take_abort(now, shard, reason, culprit),
            ControlMessage::KeepAliveAnswer { bound, awaited } => {
                self.awaited[shard] = awaited;
                self.flows[shard].keepalive_answered(now, header.sequence, bound);
                if let Some(abort) = self.abort.as_mut().filter(|_| !bound) {
                    abort.repeat(now, shard);
                }
            }
            ControlMessage::KeepAlive { .. } | ControlMessage::Unknown(_) => self.counters.foreign += 1,
        }
    }

    /// Sends every server once more which results this worker has, since it is about to leave.
    pub fn confirm_results(&mut self, now: Instant) {
        self.flows.iter_mut().for_each(|flow| flow.hasten_keepalive(now));
    }

    /// Handles a server's report that the job is over: that server needs no notification.
    fn take_abort(&mut self, now: Instant, shard: usize, reason: AbortReason, culprit: Rank) {
        let mut failure = Failure::aborted(&self.assignment, reason, culprit);
        if let Failure::OtherTensors { first, last, own, .. } = &mut failure {
            *own = self.history.describe(*first, *last);
        }
        self.fail(now, failure, reason, culprit);
        if let Some(abort) = &mut self.abort {
            abort.acknowledge(shard);
        }
    }

    /// Ends the job and starts to notify the servers, which notify the other workers.
    fn fail(&mut self, now: Instant, failure: Failure, reason: AbortReason, culprit: Rank) {
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.abort = Some(Abort::new(now, reason, culprit, self.flows.iter().map(ShardFlow::run)));
        }
    }
}

impl<P: ContributionRule> StateMachine for WorkerFlow<P> {
    fn handle_frame(&mut self, now: Instant, bytes: &[u8]) {
        let parsed = Frame::new_checked(bytes).and_then(|frame| Ok((frame, HeaderRepr::parse(&frame)?)));
        let Ok((frame, header)) = parsed else {
            self.counters.malformed += 1;
            return;
        };
        if !self.is_for_this_worker(&frame, &header) {
            self.counters.foreign += 1;
            return;
        }
        self.counters.frames_received += 1;
        self.counters.bytes_received += bytes.len() as u64;
        let flow = &mut self.flows[header.shard.index()];
        match header.kind {
            Kind::Result
                if header.incarnation == Incarnation::UNKNOWN || header.incarnation != flow.run() =>
            {
                self.counters.other_runs += 1;
            }
            Kind::Result => {
                flow.heard(now);
                let follows = self.follow(now, header.shard.index(), self.plan_version_after(&header));
                self.handle_result(now, &frame, &header, follows);
            }
            Kind::Control => match ControlMessage::parse(&frame) {
                Ok((message, host)) => self.handle_message(now, &header, message, host),
                Err(_) => self.counters.malformed += 1,
            },
            _ => self.counters.foreign += 1,
        }
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        if self.abort.is_none()
            && let Some(shard) = self.flows.iter_mut().position(|flow| flow.poll_silence(now))
        {
            let server = self.assignment.shards[shard].server.clone();
            let shard = ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
            let failure = Failure::ServerSilent { shard, server, peer_timeout: self.peer_timeout };
            self.fail(now, failure, AbortReason::ServerLost(shard), self.rank);
        }
        let sent = match &mut self.abort {
            Some(abort) => {
                let (shard, run) = abort.poll(now)?;
                let message = abort.message;
                self.emit_message((shard, run), message, ChunkSeq::default(), buffer)
            }
            None => {
                let mut flows = self.flows.iter_mut().enumerate();
                match flows.find_map(|(shard, flow)| Some((shard, flow.poll_keepalive(now)?, flow.oldest())))
                {
                    Some((shard, number, oldest)) => {
                        let tensor_len = self.tensors.len_at(shard, oldest);
                        let oldest = self.flows[shard].sequence(oldest);
                        let transcript = self.history.transcript();
                        let keepalive = ControlMessage::KeepAlive { oldest, tensor_len, transcript };
                        let run = self.flows[shard].run();
                        self.emit_message((shard, run), keepalive, number, buffer)
                    }
                    None => self.transmit_gradient(now, buffer)?,
                }
            }
        };
        self.counters.frames_sent += 1;
        self.counters.bytes_sent += sent as u64;
        Some(sent)
    }

    fn next_deadline(&self) -> Option<Instant> {
        match &self.abort {
            Some(abort) => abort.next_deadline(),
            None => self.flows.iter().filter_map(ShardFlow::next_deadline).min(),
        }
    }
}
