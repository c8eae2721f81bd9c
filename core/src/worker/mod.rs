//! A worker's side of the protocol.

mod abort;
mod congestion;
mod gradient;
mod shard;
mod status;

use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{
    AbortReason, ChunkSeq, Contributors, ControlMessage, Exponent, Flags, Frame, FrameRepr, HeaderRepr,
    Incarnation, Kind, ShardId, WorkerId,
};

use crate::quantise::first_not_finite;
use crate::{Assignment, AssignmentError, Failure, Instant, Machine, Split, WorkerCounters};
use abort::Abort;
use gradient::Gradient;
pub use gradient::RoundRecord;
use shard::ShardFlow;

/// A worker of a job: one all-reduce after the other.
///
/// [`start_round`](Self::start_round) begins a round, which the shell drives as every [`Machine`];
/// [`is_idle`](Self::is_idle) says when it has ended, and [`finish_round`](Self::finish_round) how.
#[derive(Clone, Debug)]
pub struct WorkerFlow {
    assignment: Assignment,
    rank: WorkerId,
    incarnation: Incarnation,
    patience: Duration,
    flows: Vec<ShardFlow>,
    /// Global index of each shard's first chunk.
    first_chunks: Vec<usize>,
    /// The shard that sent last.
    last_sent: usize,
    gradient: Option<Gradient>,
    abort: Option<Abort>,
    failure: Option<Failure>,
    /// Rounds started.
    rounds: u32,
    counters: WorkerCounters,
}

impl WorkerFlow {
    /// A life of the worker of that rank, named by `incarnation` (not 0), which gives the job up when a server it waits for is silent for longer than `patience`, or
    /// has not been heard from at all for [`STARTING_PATIENCES`](crate::STARTING_PATIENCES) times as long.
    pub fn new(
        assignment: Assignment,
        rank: WorkerId,
        incarnation: Incarnation,
        patience: Duration,
    ) -> Result<Self, AssignmentError> {
        assignment.validate()?;
        assignment.worker(rank)?;
        let frame_bytes = assignment.values_per_packet.frame_bytes();
        let flow = |rate_bps| ShardFlow::new(assignment.window_chunks, frame_bytes, rate_bps, patience);
        Ok(Self {
            flows: assignment.shards.iter().map(|shard| flow(shard.rate_bps)).collect(),
            first_chunks: Vec::new(),
            last_sent: 0,
            rank,
            incarnation,
            patience,
            gradient: None,
            abort: None,
            failure: None,
            rounds: 0,
            counters: WorkerCounters::default(),
            assignment,
        })
    }

    /// Starts to sum `gradient` with the other workers' gradients of this round. A failure ends the job; frames that
    /// tell the others may remain to be sent.
    pub fn start_round(&mut self, now: Instant, gradient: &[f32]) -> Result<(), Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if let Some(index) = first_not_finite(gradient) {
            let failure = Failure::NotFinite { index, value: gradient[index] };
            self.fail(now, failure.clone(), AbortReason::NotFinite, self.rank);
            return Err(failure);
        }
        if let Some(loaded) = self.gradient.as_ref().filter(|loaded| loaded.len() != gradient.len()) {
            let failure = Failure::LengthChanged { seen: gradient.len(), expected: loaded.len() };
            let [seen, expected] = [gradient.len(), loaded.len()].map(|len| len as u32);
            let reason = AbortReason::Mismatch { seen, expected };
            self.fail(now, failure.clone(), reason, self.rank);
            return Err(failure);
        }
        let split = Split::new(&self.assignment, gradient.len());
        let workers = self.assignment.workers.len();
        let (len, exact) = (gradient.len(), self.assignment.exact);
        let loaded = self.gradient.get_or_insert_with(|| Gradient::new(&split, len, workers, exact));
        self.counters.clipped += loaded.load(gradient) as u64;
        self.first_chunks.clear();
        self.rounds += 1;
        let mut first_chunk = 0;
        for (shard, flow) in self.flows.iter_mut().enumerate() {
            let shard = ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
            let chunks = split.chunk_count(shard);
            flow.start(now, u32::try_from(chunks).expect("a gradient of this length has no room in memory"));
            self.first_chunks.push(first_chunk);
            first_chunk += chunks;
        }
        Ok(())
    }

    /// Whether nothing is left to send or wait for: the round has ended, in a sum or a failure.
    pub fn is_idle(&self) -> bool {
        match &self.abort {
            Some(abort) => abort.is_done(),
            None => self.flows.iter().all(ShardFlow::is_done),
        }
    }

    /// Ends a round: writes the sum over all workers.
    ///
    /// # Panics
    /// If the round has not ended, or `sum` has another length than the gradient.
    pub fn finish_round(&mut self, sum: &mut [f32]) -> Result<(), Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        assert!(self.is_idle(), "the round has not ended");
        if let Some(gradient) = &self.gradient {
            gradient.read(sum);
        }
        Ok(())
    }

    /// A copy of the last round bit for bit; `None` before the first.
    pub fn record(&self) -> Option<RoundRecord> {
        self.gradient.as_ref().map(Gradient::record)
    }

    /// What was counted since the start.
    pub fn counters(&self) -> WorkerCounters {
        self.counters
    }

    /// Lets the sequence of every shard start there instead of at 0.
    #[cfg(test)]
    pub(crate) fn start_at(&mut self, sequence: ChunkSeq) {
        self.flows.iter_mut().for_each(|flow| flow.start_at(sequence));
    }

    /// Gives the job up because this worker is told to stop.
    pub fn stop(&mut self, now: Instant) {
        let failure = Failure::aborted(&self.assignment, AbortReason::Stopped, self.rank);
        self.fail(now, failure, AbortReason::Stopped, self.rank);
    }

    fn transmit_gradient(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize> {
        // The shards take turns, so that none waits while the machine is slower than the rates.
        let count = self.flows.len();
        let mut turns = (1..=count).map(|ahead| (self.last_sent + ahead) % count);
        let (shard, send) = turns.find_map(|shard| Some((shard, self.flows[shard].poll(now)?)))?;
        self.last_sent = shard;
        let gradient = self.gradient.as_ref()?;
        let chunk = self.first_chunks[shard] + send.chunk as usize;
        let clipped = gradient.clipped(chunk);
        let bypass = send.bypass || gradient.bypasses(chunk);
        self.counters.retransmissions += u64::from(send.resend);
        self.counters.bypasses += u64::from(bypass);
        let flags = Flags::NONE
            .with_if(Flags::RESEND, send.resend)
            .with_if(Flags::BYPASS, bypass)
            .with_if(Flags::OVERFLOW, clipped)
            .with_if(Flags::VANISHED, gradient.vanished(chunk))
            .with_if(Flags::LAST, self.flows[shard].is_last(send.chunk));
        let values = gradient.values(chunk);
        let header = HeaderRepr {
            contributors: Contributors::one(self.seat(shard)),
            exponent: gradient.used(chunk),
            length: values.len() as u16,
            ..self.header(shard, Kind::Gradient, flags, self.flows[shard].sequence(send.chunk))
        };
        Some(self.emit(shard, header, values, buffer))
    }

    /// Its number in the frames of that shard.
    fn seat(&self, shard: usize) -> WorkerId {
        self.assignment.shards[shard].seats.get(self.rank.index()).copied().unwrap_or(self.rank)
    }

    fn header(&self, shard: usize, kind: Kind, flags: Flags, sequence: ChunkSeq) -> HeaderRepr {
        HeaderRepr {
            kind,
            flags,
            epoch: self.assignment.epoch,
            job: self.assignment.job,
            shard: ShardId::try_from(shard).expect("a valid assignment has numbers for its shards"),
            worker: self.seat(shard),
            sequence,
            contributors: Contributors::default(),
            exponent: Exponent::from(0),
            length: 0,
            incarnation: self.flows[shard].run(),
        }
    }

    fn emit_message(
        &self,
        shard: usize,
        message: ControlMessage,
        about: ChunkSeq,
        buffer: &mut [u8],
    ) -> usize {
        let words = message.words(self.incarnation);
        let header = self.header(shard, Kind::Control, Flags::NONE, about);
        self.emit(shard, HeaderRepr { length: words.len() as u16, ..header }, &words, buffer)
    }

    fn emit(&self, shard: usize, header: HeaderRepr, values: &[i32], buffer: &mut [u8]) -> usize {
        let frame = FrameRepr {
            destination: self.assignment.shards[shard].mac,
            source: self.assignment.workers[self.rank.index()].mac,
            values_per_packet: self.assignment.values_per_packet,
            header,
        };
        frame.emit(values, buffer).expect("the caller's buffer has room for one frame")
    }

    fn is_for_this_worker(&self, frame: &Frame<&[u8]>, header: &HeaderRepr) -> bool {
        let assignment = &self.assignment;
        let to_all = header.kind == Kind::Result
            && frame.destination() == inart_wire::MacAddr::results_of(assignment.job);
        let to_me = header.kind == Kind::Control
            && frame.destination() == assignment.workers[self.rank.index()].mac
            && header.shard.index() < assignment.shards.len()
            && header.worker == self.seat(header.shard.index());
        header.epoch == assignment.epoch
            && header.job == assignment.job
            && frame.values_per_packet() == assignment.values_per_packet
            && assignment.shards.get(header.shard.index()).is_some_and(|shard| shard.mac == frame.source())
            && (to_all || to_me)
    }

    fn handle_result(&mut self, now: Instant, frame: &Frame<&[u8]>, header: &HeaderRepr) {
        let shard = header.shard.index();
        let seat = self.seat(shard);
        let flow = &mut self.flows[shard];
        flow.heed(now, header.feedback().unwrap_or_default(), seat);
        let (Some(chunk), Some(gradient)) = (flow.awaiting(header.sequence), &mut self.gradient) else {
            match flow.is_answered(header.sequence) {
                true => self.counters.duplicates += 1,
                // A sum this worker is not in.
                false => self.counters.malformed += 1,
            }
            return;
        };
        let index = self.first_chunks[shard] + chunk as usize;
        if !gradient.takes(index, header.exponent, header.length) {
            self.counters.malformed += 1;
            return;
        }
        gradient.store(index, frame);
        flow.answer(now, chunk, header.flags.contains(Flags::CONGESTION));
        self.counters.results += 1;
    }

    /// Takes in what a server says to the worker whose incarnation is `host`.
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
        if !self.flows[shard].meet(now, header.incarnation) {
            // The new life is told, too: other workers may be in its run, and wait for this one.
            match &mut self.abort {
                Some(abort) => abort.repeat(now, shard),
                None => {
                    let reason = AbortReason::ServerRestarted(header.shard);
                    let failure = Failure::aborted(&self.assignment, reason, self.rank);
                    self.fail(now, failure, reason, self.rank);
                }
            }
            return;
        }
        match message {
            ControlMessage::RequestBypass => {
                self.counters.requests += 1;
                let (Some(chunk), Some(gradient)) =
                    (self.flows[shard].awaiting(header.sequence), &mut self.gradient)
                else {
                    return;
                };
                let index = self.first_chunks[shard] + chunk as usize;
                gradient.raise(index, header.exponent);
                self.flows[shard].request(now, chunk);
            }
            ControlMessage::Abort { reason, culprit } => self.take_abort(now, shard, reason, culprit),
            ControlMessage::AliveAnswer { bound, agreed } => {
                self.flows[shard].alive_answered(now, header.sequence, bound, agreed);
                if let Some(abort) = self.abort.as_mut().filter(|_| !bound) {
                    abort.repeat(now, shard);
                }
            }
            ControlMessage::Alive { .. } | ControlMessage::Unknown(_) => self.counters.foreign += 1,
        }
    }

    /// A server says that the job is over: it need not be told.
    fn take_abort(&mut self, now: Instant, shard: usize, reason: AbortReason, culprit: WorkerId) {
        let failure = Failure::aborted(&self.assignment, reason, culprit);
        self.fail(now, failure, reason, culprit);
        if let Some(abort) = &mut self.abort {
            abort.acknowledge(shard);
        }
    }

    /// Ends the job and starts telling the servers, which tell the other workers.
    fn fail(&mut self, now: Instant, failure: Failure, reason: AbortReason, culprit: WorkerId) {
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.abort = Some(Abort::new(now, reason, culprit, self.flows.len()));
        }
    }
}

impl Machine for WorkerFlow {
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
                self.handle_result(now, &frame, &header);
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
            let failure = Failure::ServerSilent { shard, server, patience: self.patience };
            self.fail(now, failure, AbortReason::ServerLost(shard), self.rank);
        }
        let sent = match &mut self.abort {
            Some(abort) => {
                let shard = abort.poll(now)?;
                let message = abort.message;
                self.emit_message(shard, message, ChunkSeq::default(), buffer)
            }
            None => {
                let gradient_len =
                    self.gradient.as_ref().map(|gradient| u32::try_from(gradient.len()).unwrap_or(u32::MAX));
                let mut flows = self.flows.iter_mut().enumerate();
                match flows.find_map(|(shard, flow)| Some((shard, flow.poll_alive(now)?, flow.oldest()))) {
                    Some((shard, note, oldest)) => {
                        let alive = ControlMessage::Alive { oldest, gradient_len };
                        self.emit_message(shard, alive, note, buffer)
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
