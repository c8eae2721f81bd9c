//! A parameter server's side of the protocol.

mod chunk;
mod contribution;
mod emit;
mod epochs;
mod lengths;
mod messages;
mod moves;
mod onward;
mod order;
mod seats;
mod status;
mod stream;
mod transcripts;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{
    AbortReason, ChunkSeq, ControlMessage, Epoch, Frame, HeaderRepr, Incarnation, Kind, MacAddr, Rank, Seat,
    ShardId,
};

use crate::peer_timeout::{LISTENS_PER_PEER_TIMEOUT, STARTING_PEER_TIMEOUTS};
use crate::policy::{Lockstep, Policy};
use crate::timer::{Timer, TimerTable};
use crate::{Assignment, AssignmentError, Failure, Instant, ServerCounters, StateMachine};
use epochs::Epochs;
use lengths::Lengths;
use seats::Seats;
use stream::Stream;
use transcripts::Transcripts;

/// A frame to be sent.
#[derive(Clone, Copy, Debug)]
enum Outgoing {
    /// A chunk's result, to one worker or to all.
    Result {
        cohort: usize,
        sequence: ChunkSeq,
        /// Whether it was sent before.
        again: bool,
        /// A result to all in an epoch that was closed meanwhile is not sent.
        epoch: Epoch,
        /// `None`: by multicast.
        to: Option<Rank>,
    },
    /// A message about a chunk to one.
    Message {
        message: ControlMessage,
        sequence: ChunkSeq,
        /// The epoch that the worker knows.
        epoch: Epoch,
        to: Rank,
        /// The incarnation of that worker.
        host: Incarnation,
    },
    /// The answer to a message that came from another address than that worker's.
    Refusal { to: MacAddr, header: HeaderRepr, rank: Rank, host: Incarnation },
}

/// One shard of a job at its parameter server. It receives gradients and partials, and sends the results that
/// the [policy](Policy) makes of them. Driven as every [`StateMachine`].
#[derive(Clone, Debug)]
pub struct ServerShard<P: Policy = Lockstep> {
    assignment: Assignment,
    shard: ShardId,
    policy: P,
    /// Names the run.
    incarnation: Incarnation,
    /// Home seats: those of the epoch that the server began with.
    seats: Seats,
    epochs: Epochs,
    peer_timeout: Duration,
    /// By cohort.
    streams: Vec<Stream<P::Reduction>>,
    /// By rank: the incarnation of the worker that is in this run.
    hosts: Vec<Option<Incarnation>>,
    /// By rank; `None` if never.
    last_heard: Vec<Option<Instant>>,
    /// By rank: the oldest chunk without a result at the worker, as it told last.
    oldest: Vec<Option<ChunkSeq>>,
    lengths: Lengths,
    transcripts: Transcripts,
    timers: TimerTable,
    outbox: VecDeque<Outgoing>,
    abort: Option<(AbortReason, Rank)>,
    counters: ServerCounters,
}

impl ServerShard {
    /// An incarnation of the server of that shard, named by `incarnation` (not 0), which aborts the job when
    /// a worker that is waited for is silent for longer than `peer_timeout`, or has not been heard from at
    /// all for [`STARTING_PEER_TIMEOUTS`] times as long.
    ///
    /// # Errors
    /// What is wrong with the assignment.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        incarnation: Incarnation,
        peer_timeout: Duration,
    ) -> Result<Self, AssignmentError> {
        Self::with_policy(assignment, shard, incarnation, peer_timeout, Lockstep)
    }
}

impl<P: Policy> ServerShard<P> {
    /// Creates a server shard that uses `policy` instead of `Lockstep`.
    ///
    /// # Errors
    /// What is wrong with the assignment.
    pub fn with_policy(
        assignment: Assignment,
        shard: ShardId,
        incarnation: Incarnation,
        peer_timeout: Duration,
        policy: P,
    ) -> Result<Self, AssignmentError> {
        assignment.validate()?;
        assignment.shard(shard)?;
        let seats = Seats::new(&assignment, shard, |rank| policy.cohort(rank));
        let stream =
            |members: &Vec<u64>| Stream::new(ChunkSeq::default(), assignment.window_chunks, members.clone());
        let cohorts = (0..assignment.workers.len()).map(|rank| policy.cohort(rank)).collect();
        Ok(Self {
            streams: seats.members().iter().map(stream).collect(),
            epochs: Epochs::new(assignment.epoch, &seats, assignment.workers.len()),
            seats,
            policy,
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

    /// What was counted since the start.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Why the job was aborted, and the culprit's rank, if it was.
    pub fn aborted(&self) -> Option<(AbortReason, Rank)> {
        self.abort
    }

    /// The same, as an error.
    pub fn failure(&self) -> Option<Failure> {
        self.abort.map(|(reason, culprit)| Failure::aborted(&self.assignment, reason, culprit))
    }

    /// Returns how long all workers have been silent: the time since the last of them was heard. `None`
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
        let workers = self.seats.all_ranks().zip(&self.last_heard).zip(&self.assignment.workers);
        let absent = workers.filter(|((_, heard), _)| heard.is_none());
        absent.map(|((rank, _), worker)| (rank, worker.name.as_str()))
    }

    /// The rank of the worker on a home seat that is not free.
    fn rank(&self, seat: Seat) -> Rank {
        self.seats.rank(seat).expect("frames of free seats are foreign")
    }

    /// The rank of the worker that the header names, if the frame is for this shard.
    fn sender(&self, frame: &Frame<&[u8]>, header: &HeaderRepr) -> Option<Rank> {
        let for_this_shard = matches!(header.kind, Kind::Gradient | Kind::Partial | Kind::Control)
            && header.job == self.assignment.job
            && header.shard == self.shard
            && frame.values_per_frame() == self.assignment.values_per_frame
            && frame.destination() == self.assignment.shards[self.shard.index()].mac;
        let seats = &self.epochs.route(header.epoch).filter(|_| for_this_shard)?.seats;
        seats.rank(header.worker).filter(|rank| seats.are_with(*rank, header.contributors))
    }

    /// How long messages that were held up are waited for.
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
            .map(|(since, seat)| (since, self.rank(seat)))
            .map(|(since, rank)| (peer_timeout_at(since, rank), rank));
        match missing.min_by_key(|(until, _)| *until) {
            Some((until, culprit)) if until <= now => self.abort(AbortReason::Silent, culprit),
            Some((until, _)) => self.timers.set_at_latest(Timer::PeerTimeout, until),
            None => {}
        }
    }
}

impl<P: Policy> StateMachine for ServerShard<P> {
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
                // Not those whose contributions have been in a slot, maybe for long.
                self.last_heard[sender.index()] = Some(now);
                if self.abort.is_some() {
                    return self.answer_with_abort(header.sequence, sender);
                }
                self.handle_contribution(now, &frame, &header, sender);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        match self.timers.take_due(Timer::PeerTimeout, now) {
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
