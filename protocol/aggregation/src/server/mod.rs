//! A parameter server's side of the protocol.

mod bitmap_indices;
mod chunk;
mod contribution;
mod emit;
mod lengths;
mod messages;
mod migration;
mod onward;
mod order;
mod plan_versions;
mod status;
mod stream;
mod transcripts;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{
    AbortReason, BitmapIndex, ChunkSeq, ControlMessage, Frame, HeaderRepr, Incarnation, Kind, MacAddr,
    PlanVersion, Rank, ShardId,
};

use crate::completion_rule::{CompletionRule, Lockstep};
use crate::peer_timeout::{LISTENS_PER_PEER_TIMEOUT, STARTING_PEER_TIMEOUTS};
use crate::timer::{Timer, TimerTable};
use crate::{Assignment, AssignmentError, Failure, Instant, ServerCounters, StateMachine};
use bitmap_indices::BitmapIndices;
use lengths::Lengths;
use plan_versions::PlanVersions;
use stream::Stream;
use transcripts::Transcripts;

/// A frame to be sent.
#[derive(Clone, Copy, Debug)]
enum Outgoing {
    /// A chunk's result, to one worker or to all.
    Result {
        cohort: usize,
        sequence: ChunkSeq,
        /// Whether it is a retransmission.
        again: bool,
        /// A result to all in a plan version that was closed meanwhile is not sent.
        plan_version: PlanVersion,
        /// Receiver; `None` for multicast.
        to: Option<Rank>,
    },
    /// A message about a chunk to one.
    Message {
        message: ControlMessage,
        sequence: ChunkSeq,
        /// The plan version that the worker knows.
        plan_version: PlanVersion,
        to: Rank,
        /// The incarnation of that worker.
        host: Incarnation,
    },
    /// Answer to a message from another address than that worker's.
    Refusal { to: MacAddr, header: HeaderRepr, rank: Rank, host: Incarnation },
}

/// One shard of a job at its parameter server. It receives gradients and partials, and sends the results that
/// the [completion rule](CompletionRule) makes of them. Driven as every [`StateMachine`].
#[derive(Clone, Debug)]
pub struct ServerShard<P: CompletionRule = Lockstep> {
    assignment: Assignment,
    shard: ShardId,
    completion_rule: P,
    /// Names the run.
    incarnation: Incarnation,
    /// Home bitmap indices: those of the plan version at the server's start.
    bitmap_indices: BitmapIndices,
    plan_versions: PlanVersions,
    peer_timeout: Duration,
    /// Streams by cohort.
    streams: Vec<Stream<P::Reduction>>,
    /// Incarnation of the worker that is bound to this run, by rank.
    hosts: Vec<Option<Incarnation>>,
    /// Time of the last frame, by rank; `None` if never.
    last_heard: Vec<Option<Instant>>,
    /// Oldest chunk without a result at the worker by its last report, by rank.
    oldest: Vec<Option<ChunkSeq>>,
    lengths: Lengths,
    transcripts: Transcripts,
    timers: TimerTable,
    outbox: VecDeque<Outgoing>,
    abort: Option<(AbortReason, Rank)>,
    counters: ServerCounters,
}

impl ServerShard {
    /// Creates an incarnation of the server of that shard, named by `incarnation` (not 0). It aborts the job
    /// when a worker that it waits for is silent for longer than `peer_timeout`, or has not been heard from
    /// at all for [`STARTING_PEER_TIMEOUTS`] times as long.
    ///
    /// # Errors
    ///
    /// The assignment is invalid.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        incarnation: Incarnation,
        peer_timeout: Duration,
    ) -> Result<Self, AssignmentError> {
        Self::with_completion_rule(assignment, shard, incarnation, peer_timeout, Lockstep)
    }
}

impl<P: CompletionRule> ServerShard<P> {
    /// Creates a server shard that uses `completion_rule` instead of `Lockstep`.
    ///
    /// # Errors
    ///
    /// The assignment is invalid.
    pub fn with_completion_rule(
        assignment: Assignment,
        shard: ShardId,
        incarnation: Incarnation,
        peer_timeout: Duration,
        completion_rule: P,
    ) -> Result<Self, AssignmentError> {
        assignment.validate()?;
        assignment.shard(shard)?;
        let bitmap_indices = BitmapIndices::new(&assignment, shard, |rank| completion_rule.cohort(rank));
        let stream =
            |members: &Vec<u64>| Stream::new(ChunkSeq::default(), assignment.window_chunks, members.clone());
        let cohorts = (0..assignment.workers.len()).map(|rank| completion_rule.cohort(rank)).collect();
        Ok(Self {
            streams: bitmap_indices.members().iter().map(stream).collect(),
            plan_versions: PlanVersions::new(
                assignment.plan_version,
                &bitmap_indices,
                assignment.workers.len(),
            ),
            bitmap_indices,
            completion_rule,
            shard,
            incarnation,
            peer_timeout,
            hosts: alloc::vec![None; assignment.workers.len()],
            last_heard: alloc::vec![None; assignment.workers.len()],
            oldest: alloc::vec![None; assignment.workers.len()],
            lengths: Lengths::new(assignment.workers.len()),
            transcripts: Transcripts::new(cohorts),
            timers: TimerTable::default(),
            outbox: VecDeque::new(),
            abort: None,
            counters: ServerCounters::default(),
            assignment,
        })
    }

    /// Makes the sequence start there instead of at 0.
    #[cfg(test)]
    pub(crate) fn start_at(&mut self, sequence: ChunkSeq) {
        for stream in &mut self.streams {
            *stream = Stream::new(sequence, self.assignment.window_chunks, stream.members.clone());
        }
    }

    /// Returns the counters since the start.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Returns the abort reason and the culprit's rank, if the job was aborted.
    pub fn aborted(&self) -> Option<(AbortReason, Rank)> {
        self.abort
    }

    /// Returns the abort reason as an error.
    pub fn failure(&self) -> Option<Failure> {
        self.abort.map(|(reason, culprit)| Failure::aborted(&self.assignment, reason, culprit))
    }

    /// Returns how long all workers have been silent: the time since the last frame of any worker. `None`
    /// before the first result, and while a chunk waits for a worker.
    pub fn silent_for(&self, now: Instant) -> Option<Duration> {
        if self.counters.chunks == 0 || !self.is_idle() {
            return None;
        }
        self.last_heard.iter().flatten().max().map(|last| now.since(*last))
    }

    /// Returns how many workers the job has.
    pub fn workers(&self) -> usize {
        self.assignment.workers.len()
    }

    /// Returns the workers that were never heard from, by rank and name.
    pub fn never_heard(&self) -> impl Iterator<Item = (Rank, &str)> {
        let workers = self.bitmap_indices.all_ranks().zip(&self.last_heard).zip(&self.assignment.workers);
        let absent = workers.filter(|((_, heard), _)| heard.is_none());
        absent.map(|((rank, _), worker)| (rank, worker.name.as_str()))
    }

    /// The rank of the worker on a home bitmap index that is not free.
    fn rank(&self, bitmap_index: BitmapIndex) -> Rank {
        self.bitmap_indices.rank(bitmap_index).expect("frames of free bitmap indices are foreign")
    }

    /// The rank of the worker that the header names, if the frame is for this shard.
    fn sender(&self, frame: &Frame<&[u8]>, header: &HeaderRepr) -> Option<Rank> {
        let for_this_shard = matches!(header.kind, Kind::Gradient | Kind::Partial | Kind::Control)
            && header.job == self.assignment.job
            && header.shard == self.shard
            && frame.values_per_frame() == self.assignment.values_per_frame
            && frame.destination() == self.assignment.shards[self.shard.index()].mac;
        let bitmap_indices =
            &self.plan_versions.route(header.plan_version).filter(|_| for_this_shard)?.bitmap_indices;
        bitmap_indices.rank(header.worker).filter(|rank| bitmap_indices.are_with(*rank, header.contributors))
    }

    /// Returns how long to wait for delayed messages.
    fn listen(&self) -> Duration {
        self.peer_timeout / LISTENS_PER_PEER_TIMEOUT
    }

    /// Aborts the job if a worker that is waited for has been silent too long.
    fn look_for_the_missing(&mut self, now: Instant) {
        let peer_timeout_at = |since: Instant, rank: Rank| match self.last_heard[rank.index()] {
            Some(heard) => (heard + self.peer_timeout).max(since + self.listen()),
            None => since + STARTING_PEER_TIMEOUTS * self.peer_timeout,
        };
        let missing = self
            .streams
            .iter()
            .flat_map(Stream::waited_for)
            .map(|(since, bitmap_index)| (since, self.rank(bitmap_index)))
            .map(|(since, rank)| (peer_timeout_at(since, rank), rank));
        match missing.min_by_key(|(until, _)| *until) {
            Some((until, culprit)) if until <= now => self.abort(AbortReason::Silent, culprit),
            Some((until, _)) => self.timers.set_at_latest(Timer::PeerTimeout, until),
            None => {}
        }
    }
}

impl<P: CompletionRule> StateMachine for ServerShard<P> {
    fn handle_frame(&mut self, now: Instant, bytes: &[u8]) {
        let parsed = Frame::new_checked(bytes).and_then(|frame| Ok((frame, HeaderRepr::parse(&frame)?)));
        let Ok((frame, header)) = parsed else {
            self.counters.malformed += 1;
            return;
        };
        let Some(sender) = self.sender(&frame, &header) else {
            self.counters.foreign += 1;
            return;
        };
        self.counters.frames_received += 1;
        self.counters.bytes_received += bytes.len() as u64;
        match header.kind {
            Kind::Control => match ControlMessage::parse(&frame) {
                Ok((_, host)) if self.refuse(sender, host, &header, frame.source()) => {}
                Ok((message, host)) if host != Incarnation::UNKNOWN => {
                    self.handle_message(now, sender, &header, message, host);
                }
                _ => self.counters.malformed += 1,
            },
            _ if header.incarnation != self.incarnation => self.counters.other_runs += 1,
            _ => {
                // Contributors of a partial do not count: their values may have been in a slot for long.
                self.last_heard[sender.index()] = Some(now);
                if self.abort.is_some() {
                    return self.answer_with_abort(header.sequence, sender);
                }
                self.handle_contribution(now, &frame, &header, sender);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        match self.timers.take_expired(Timer::PeerTimeout, now) {
            Some(late) if late > self.listen() => self.timers.set(Timer::PeerTimeout, now + self.listen()),
            Some(_) => {
                self.settle_differences(now);
                if self.abort.is_none() {
                    self.look_for_the_missing(now);
                }
            }
            None => {}
        }
        let sent = self.emit_next(buffer)?;
        self.counters.frames_sent += 1;
        self.counters.bytes_sent += sent as u64;
        Some(sent)
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }
}
