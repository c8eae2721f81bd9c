//! A parameter server's side of the protocol.

mod chunk;
mod lengths;
mod messages;
mod order;
mod seats;
mod status;
mod sum;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{
    AbortReason, ChunkSeq, Contributors, ControlMessage, Exponent, Feedback, Flags, Frame, FrameRepr,
    HeaderRepr, Incarnation, Kind, MacAddr, ShardId, WorkerId,
};

use crate::patience::{LISTENS_PER_PATIENCE, STARTING_PATIENCES};
use crate::timer::{Timer, TimerTable};
use crate::{Assignment, AssignmentError, Failure, Instant, Machine, ServerCounters};
use chunk::{Chunk, Verdict};
use lengths::Lengths;
use order::SendOrder;
use seats::Seats;
use sum::{Sum, is_of_the_kind};

/// A frame to be sent; workers by their seats.
#[derive(Clone, Copy, Debug)]
enum Outgoing {
    /// A chunk's result to all workers, for the first time or again.
    Result(ChunkSeq, bool),
    /// A message about a chunk to one.
    Message {
        message: ControlMessage,
        sequence: ChunkSeq,
        exponent: Exponent,
        to: WorkerId,
        /// The life of that worker that is spoken to.
        host: Incarnation,
    },
}

/// One shard of a job at its parameter server: completes the sums that switches began and multicasts the results.
///
/// Driven as every [`Machine`].
///
/// Of the chunks that share a slot, which are a window apart, the last four are known. A worker that sends one knows that the one
/// before has ended, and has the result of the one before that. So all have the result of the fourth, since all are in the sum
/// of the second; of the third one may lack it.
#[derive(Clone, Debug)]
pub struct ServerShard {
    assignment: Assignment,
    shard: ShardId,
    /// Names the run.
    incarnation: Incarnation,
    seats: Seats,
    patience: Duration,
    /// Ring over four times the window.
    chunks: Vec<Option<Chunk>>,
    /// The first sequence of all.
    first: ChunkSeq,
    /// The oldest chunk without a result.
    oldest: ChunkSeq,
    order: SendOrder,
    /// The chunk whose result was sent last.
    last_result: Option<ChunkSeq>,
    /// By rank: the incarnation of the worker that is in this run.
    hosts: Vec<Option<Incarnation>>,
    /// By rank; `None` if never.
    last_heard: Vec<Option<Instant>>,
    lengths: Lengths,
    timers: TimerTable,
    outbox: VecDeque<Outgoing>,
    abort: Option<(AbortReason, WorkerId)>,
    counters: ServerCounters,
}

impl ServerShard {
    /// A life of the server of that shard, named by `incarnation` (not 0), which gives the job up when a worker that is waited for is silent for longer than
    /// `patience`, or has not been heard from at all for [`STARTING_PATIENCES`] times as long.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        incarnation: Incarnation,
        patience: Duration,
    ) -> Result<Self, AssignmentError> {
        assignment.validate()?;
        assignment.shard(shard)?;
        Ok(Self {
            seats: Seats::new(&assignment, shard),
            shard,
            incarnation,
            patience,
            chunks: alloc::vec![None; 4 * assignment.window_chunks as usize],
            first: ChunkSeq::default(),
            oldest: ChunkSeq::default(),
            order: SendOrder::new(ChunkSeq::default(), assignment.window_chunks),
            last_result: None,
            hosts: alloc::vec![None; assignment.workers.len()],
            last_heard: alloc::vec![None; assignment.workers.len()],
            lengths: Lengths::new(assignment.workers.len()),
            timers: TimerTable::default(),
            outbox: VecDeque::new(),
            abort: None,
            counters: ServerCounters::default(),
            assignment,
        })
    }

    /// Lets the sequence start there instead of at 0.
    #[cfg(test)]
    pub(crate) fn start_at(&mut self, sequence: ChunkSeq) {
        (self.first, self.oldest) = (sequence, sequence);
        self.order = SendOrder::new(sequence, self.assignment.window_chunks);
    }

    /// What was counted since the start.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Why and because of whom (by rank) the job was given up, if it was.
    pub fn aborted(&self) -> Option<(AbortReason, WorkerId)> {
        self.abort
    }

    /// The same, in words.
    pub fn failure(&self) -> Option<Failure> {
        self.abort.map(|(reason, culprit)| Failure::aborted(&self.assignment, reason, culprit))
    }

    /// A result frame to all workers.
    fn emit_result(&mut self, sequence: ChunkSeq, again: bool, buffer: &mut [u8]) -> Option<usize> {
        let feedback = Feedback {
            ended: self.last_result.filter(|last| *last != sequence),
            lacking: self
                .order
                .next_overtaken()
                .and_then(|overtaken| Some((overtaken, self.chunk(overtaken)?.missing().collect()))),
        };
        // Nobody needs it any more if it is gone.
        let chunk = self.chunk(sequence)?;
        let header = HeaderRepr {
            kind: Kind::Result,
            flags: chunk.marks.with_if(Flags::LAST, chunk.last).with_if(Flags::RESEND, again),
            worker: chunk.completed_by?,
            sequence,
            contributors: Contributors { bitmap: feedback.bits(sequence), ..Contributors::default() },
            exponent: chunk.exponent,
            length: chunk.length,
            ..self.header()
        };
        let sent = self.emit(MacAddr::results_of(self.assignment.job), header, chunk.result(), buffer);
        self.last_result = Some(sequence);
        match again {
            true => self.counters.resends_sent += 1,
            false => self.counters.results_sent += 1,
        }
        Some(sent)
    }

    /// A message about a chunk to one life of the worker on a seat.
    fn emit_message(
        &mut self,
        message: ControlMessage,
        (to, host): (WorkerId, Incarnation),
        (sequence, exponent): (ChunkSeq, Exponent),
        buffer: &mut [u8],
    ) -> usize {
        self.counters.requests_sent += u64::from(message == ControlMessage::RequestBypass);
        let words = message.words(host);
        let header =
            HeaderRepr { worker: to, sequence, exponent, length: words.len() as u16, ..self.header() };
        self.emit(self.mac_of(to), header, &words, buffer)
    }

    /// The rank of the worker on a seat that is not free.
    fn rank(&self, seat: WorkerId) -> WorkerId {
        self.seats.rank(seat).expect("frames of free seats are foreign")
    }

    fn mac_of(&self, seat: WorkerId) -> MacAddr {
        self.assignment.workers[self.rank(seat).index()].mac
    }

    fn header(&self) -> HeaderRepr {
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            epoch: self.assignment.epoch,
            job: self.assignment.job,
            shard: self.shard,
            worker: WorkerId::MAX,
            sequence: ChunkSeq::default(),
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: 0,
            incarnation: self.incarnation,
        }
    }

    fn emit(&self, destination: MacAddr, header: HeaderRepr, values: &[i32], buffer: &mut [u8]) -> usize {
        let source = self.assignment.shards[self.shard.index()].mac;
        let values_per_packet = self.assignment.values_per_packet;
        FrameRepr { destination, source, values_per_packet, header }
            .emit(values, buffer)
            .expect("the caller's buffer has room for one frame")
    }

    fn is_for_this_shard(&self, frame: &Frame<&[u8]>, header: &HeaderRepr) -> bool {
        matches!(header.kind, Kind::Gradient | Kind::Partial | Kind::Control)
            && header.epoch == self.assignment.epoch
            && header.job == self.assignment.job
            && header.shard == self.shard
            && frame.values_per_packet() == self.assignment.values_per_packet
            && frame.destination() == self.assignment.shards[self.shard.index()].mac
            && self.seats.rank(header.worker).is_some()
            && header.contributors.is_subset(self.seats.in_group(header.contributors.group))
    }

    fn handle_contribution(&mut self, now: Instant, frame: &Frame<&[u8]>, header: &HeaderRepr) {
        let sequence = header.sequence;
        let exact = self.assignment.exact;
        if !is_of_the_kind(frame, header, exact) {
            self.counters.other_numbers += 1;
            // A worker that was told otherwise would wait for ever.
            if header.kind == Kind::Gradient && exact != (header.exponent == Exponent::FLOATS) {
                self.abort(AbortReason::OtherNumbers, self.rank(header.worker));
            }
            return;
        }
        if self.chunk(sequence).is_none() && !self.open(now, header) {
            self.counters.out_of_window += 1;
            return;
        }
        let chunk = self.chunks[sequence.slot(4 * self.assignment.window_chunks)].as_mut();
        let chunk = chunk.expect("it was there, or has been opened");
        if (chunk.length, chunk.last) != (header.length, header.flags.contains(Flags::LAST)) {
            self.counters.other_shapes += 1;
            self.lengths.differ(now, self.rank(header.worker));
            return self.settle_lengths(now);
        }
        if chunk.completed_by.is_some() {
            self.counters.repeats += 1;
            if chunk.ask(header.contributors) {
                self.outbox.push_back(Outgoing::Result(sequence, true));
            }
            return;
        }
        match chunk.judge(header) {
            Verdict::Add => self.add(frame, header),
            Verdict::Repeat => self.counters.repeats += 1,
            Verdict::Overlap => {
                self.counters.overlaps += 1;
                self.request_missing_of(sequence, header.contributors);
            }
            Verdict::Overflow => {
                self.counters.overflows += 1;
                self.request_missing_of(sequence, header.contributors);
            }
            Verdict::Raise => {
                chunk.raise(header.exponent, &self.seats);
                self.counters.clipped += 1;
                self.add(frame, header);
                self.request_all_missing(sequence);
            }
            Verdict::Behind => self.message(ControlMessage::RequestBypass, sequence, header.worker),
            Verdict::Exponent => self.counters.exponents += 1,
        }
    }

    /// Opens a chunk for its first frame, if a worker may send it now: if the one before it in its slot has its result, or it is
    /// the slot's first.
    fn open(&mut self, now: Instant, header: &HeaderRepr) -> bool {
        let window = self.assignment.window_chunks;
        let slot = header.sequence.slot(4 * window);
        let older = self.chunks[slot].as_ref().is_none_or(|chunk| chunk.sequence < header.sequence);
        let first = header.sequence.since(self.first) < window;
        let before = header.sequence.advance(window.wrapping_neg());
        if !(older && (first || self.is_complete(before))) {
            return false;
        }
        let sum = Sum::new(self.assignment.values_per_packet.get(), self.assignment.exact);
        self.chunks[slot] = Some(Chunk::open(now, header, sum, &self.seats));
        self.timers.set_at_latest(Timer::Patience, now + self.listen());
        true
    }

    fn chunk(&self, sequence: ChunkSeq) -> Option<&Chunk> {
        let slot = sequence.slot(4 * self.assignment.window_chunks);
        self.chunks[slot].as_ref().filter(|chunk| chunk.sequence == sequence)
    }

    fn is_complete(&self, sequence: ChunkSeq) -> bool {
        self.chunk(sequence).is_some_and(|chunk| chunk.completed_by.is_some())
    }

    /// Whether that chunk has its result, though it may be known no more.
    fn has_ended(&self, sequence: ChunkSeq) -> bool {
        let window = self.assignment.window_chunks;
        let later = |ahead: u32| {
            let chunk = &self.chunks[sequence.advance(ahead).slot(4 * window)];
            chunk.as_ref().is_some_and(|chunk| chunk.sequence > sequence)
        };
        self.is_complete(sequence) || (0..4).any(|windows| later(windows * window))
    }

    /// Adds a frame to its chunk, which is open and lacks all of the frame's contributors.
    fn add(&mut self, frame: &Frame<&[u8]>, header: &HeaderRepr) {
        match header.kind {
            Kind::Partial => {
                self.counters.partials += 1;
                self.counters.summed_in_network += u64::from(header.contributors.count());
            }
            _ => self.counters.gradients += 1,
        }
        let slot = header.sequence.slot(4 * self.assignment.window_chunks);
        let chunk = self.chunks[slot].as_mut().expect("frames are added to open chunks");
        chunk.add(header, frame);
        if chunk.completed_by.is_some() {
            self.counters.chunks += 1;
            self.order.complete(header.sequence);
            self.outbox.push_back(Outgoing::Result(header.sequence, false));
            while self.has_ended(self.oldest) {
                self.oldest = self.oldest.advance(1);
            }
        }
    }

    /// Asks those of `contributors` that are not in the sum to send the chunk by bypass.
    fn request_missing_of(&mut self, sequence: ChunkSeq, contributors: Contributors) {
        let missing = self.chunk(sequence).map(|chunk| chunk.missing_of(contributors));
        self.request(sequence, missing.unwrap_or_default().ranks());
    }

    /// How long notes that were held up are waited for.
    fn listen(&self) -> Duration {
        self.patience / LISTENS_PER_PATIENCE
    }

    /// Gives the job up if a worker that is waited for has been silent too long.
    fn look_for_the_missing(&mut self, now: Instant) {
        let patient_until = |since: Instant, rank: WorkerId| match self.last_heard[rank.index()] {
            Some(heard) => (heard + self.patience).max(since + self.listen()),
            None => since + STARTING_PATIENCES * self.patience,
        };
        let missing = self
            .open_chunks()
            .flat_map(|chunk| chunk.missing().map(|seat| (chunk.opened, self.rank(seat))))
            .chain(self.lengths.missing())
            .map(|(since, rank)| (patient_until(since, rank), rank));
        match missing.min_by_key(|(until, _)| *until) {
            Some((until, culprit)) if until <= now => self.abort(AbortReason::Silent, culprit),
            Some((until, _)) => self.timers.set_at_latest(Timer::Patience, until),
            None => {}
        }
    }
}

impl Machine for ServerShard {
    fn handle_frame(&mut self, now: Instant, bytes: &[u8]) {
        let parsed = Frame::new_checked(bytes).and_then(|frame| Ok((frame, HeaderRepr::parse(&frame)?)));
        let Ok((frame, header)) = parsed else {
            self.counters.malformed += 1;
            return;
        };
        if !self.is_for_this_shard(&frame, &header) {
            self.counters.foreign += 1;
            return;
        }
        self.counters.frames_received += 1;
        self.counters.bytes_received += bytes.len() as u64;
        match header.kind {
            Kind::Control => match ControlMessage::parse(&frame) {
                Ok((message, host)) if host != Incarnation::UNKNOWN => {
                    self.handle_message(now, &header, message, host);
                }
                _ => self.counters.malformed += 1,
            },
            _ if header.incarnation != self.incarnation => self.counters.other_runs += 1,
            _ => {
                // Not those whose contributions have been in a slot, maybe for long.
                let rank = self.rank(header.worker);
                self.last_heard[rank.index()] = Some(now);
                match self.abort {
                    Some(_) => self.answer_with_abort(&header),
                    None => self.handle_contribution(now, &frame, &header),
                }
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        match self.timers.take_due(Timer::Patience, now) {
            Some(late) if late > self.listen() => self.timers.set(Timer::Patience, now + self.listen()),
            Some(_) => {
                self.settle_lengths(now);
                if self.abort.is_none() {
                    self.look_for_the_missing(now);
                }
            }
            None => {}
        }
        let sent = loop {
            let sent = match self.outbox.pop_front()? {
                Outgoing::Result(sequence, again) => self.emit_result(sequence, again, buffer),
                Outgoing::Message { message, sequence, exponent, to, host } => {
                    Some(self.emit_message(message, (to, host), (sequence, exponent), buffer))
                }
            };
            if let Some(sent) = sent {
                break sent;
            }
        };
        self.counters.frames_sent += 1;
        self.counters.bytes_sent += sent as u64;
        Some(sent)
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }
}
