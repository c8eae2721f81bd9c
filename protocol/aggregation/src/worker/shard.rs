//! Chunks of one shard in flight.

mod following;
mod keepalive;
mod loss;
mod session;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{BitmapIndex, ChunkSeq, Feedback};

use super::congestion::RateControl;
use crate::Instant;
use crate::pacer::Pacer;
use crate::peer_timeout::{LISTENS_PER_PEER_TIMEOUT, STARTING_PEER_TIMEOUTS};
use crate::rtt::RttEstimator;
use crate::timer::{Timer, TimerTable};
pub(super) use following::Following;
use session::Session;

/// Repeats of one chunk after which it is sent to the server alone: its slot on a switch may wait for a
/// worker that has the result and repeats no more.
const BYPASS_AFTER_REPEATS: u32 = 10;

/// Repeats of a chunk that was first sent in a previous plan version, after which it is sent to the server
/// alone: its slot in this one may also wait for a worker that has the result and never sent it here.
const BYPASS_AFTER_MOVE: u32 = 5;

/// Margin of a chunk's result beyond the round trip, in chunk times: peers send theirs at other moments, and
/// all of them may queue for one link.
const CHUNKS_OF_MARGIN: u32 = 4;

/// A chunk that was sent: the last one at its index in the ring.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    chunk: u64,
    /// Whether it waits for its result.
    waits: bool,
    /// Whether the server has its sum: its result has arrived, or another result reported it.
    ended: bool,
    /// Number of chunks sent before it.
    order: u64,
    /// Number of chunks sent when it was last sent.
    after: u64,
    /// Whether the server has confirmed this worker's values.
    pub(super) there: bool,
    /// Whether it waits in `resend`.
    pub(super) queued: bool,
    bypass: bool,
    pub(super) sends: u32,
    /// Number of its transmissions in earlier plan versions.
    pub(super) sends_before: u32,
    /// Whether it uses the worker's previous plan version, following its server.
    pub(super) old: bool,
    /// Whether the chunk after it at its window position uses that plan version, as far as is known here.
    pub(super) next_old: bool,
    pub(super) sent_at: Instant,
    /// Time of its last transmission, of the server's confirmation, or of this worker's migration.
    pub(super) last_progress: Instant,
}

impl InFlight {
    /// Returns how often it was sent in the current plan version.
    fn sends_here(&self) -> u32 {
        self.sends.saturating_sub(self.sends_before)
    }

    /// Returns whether to stop waiting for its slot.
    fn gives_up_slot(&self) -> bool {
        match self.sends_before {
            0 => self.sends > BYPASS_AFTER_REPEATS,
            // A worker that has the result of an ended chunk does not send it in this plan version.
            before => self.ended || self.sends - before.min(self.sends) > BYPASS_AFTER_MOVE,
        }
    }
}

/// Next transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission {
    /// Chunk of the shard.
    pub chunk: u64,
    pub resend: bool,
    pub bypass: bool,
    /// Whether it uses the worker's previous plan version.
    pub behind: bool,
}

/// Window, pacing and retransmission of one shard's chunks, which are counted from 0 over all tensors. Knows
/// no values.
///
/// Loss is detected as in QUIC (RFC 9002): a chunk is lost when results of later chunks have arrived and its
/// own is overdue. The relevant order is that of first transmissions: a chunk is sent when the previous one
/// at its window position has ended, and results report in one order to all peers what has ended, so peers
/// have the same order. They retransmit chunks in any order. In silence, only the oldest and the newest chunk
/// are retransmitted; their results then show which others are lost.
#[derive(Clone, Debug)]
pub(super) struct ShardFlow {
    window: u32,
    /// Workers of the job.
    workers: u32,
    peer_timeout: Duration,
    /// Time of the last result, if chunks were in flight ever since.
    last_result: Option<Instant>,
    /// Sequence of chunk 0.
    base: ChunkSeq,
    /// The first chunk since the flow was idle.
    pub(super) began: u64,
    /// Oldest chunk without a result.
    oldest: u64,
    /// The chunk after the last of the tensors that were started.
    pub(super) end: u64,
    /// Chunks that may be sent, in the order in which the previous ones at their window positions ended; the
    /// results of the ones before have arrived.
    pub(super) ready: VecDeque<u64>,
    /// Chunks that may be sent, of tensors that are not started yet.
    pub(super) free: VecDeque<u64>,
    /// Chunks sent and not answered, in the order in which they were sent first.
    pub(super) outstanding: VecDeque<u64>,
    /// Number of these that have ended: their results were lost on the way here, and they fill no window.
    missed: usize,
    /// Ring over twice the window.
    pub(super) in_flight: Vec<InFlight>,
    pub(super) resend: VecDeque<u64>,
    /// Chunks sent for the first time.
    pub(super) sent: u64,
    /// Order of the first chunk of which neither it nor any that was sent later has its result.
    reached: u64,
    /// Waits in silence since the last result.
    pub(super) probes: u32,
    pub(super) frame_bytes: usize,
    pub(super) pacer: Pacer,
    pub(super) rate: RateControl,
    pub(super) rtt: RttEstimator,
    pub(super) timers: TimerTable,
    pub(super) following: Following,
    session: Session,
    /// Time of the server's last frame, if any.
    pub(super) last_heard: Option<Instant>,
}

impl ShardFlow {
    /// Creates a flow of frames of `frame_bytes` bytes at `rate_bps`, of one of `workers` workers. `window`
    /// is a power of two.
    pub(super) fn new(
        (window, workers): (u32, u32),
        frame_bytes: usize,
        rate_bps: f64,
        peer_timeout: Duration,
    ) -> Self {
        let mut timers = TimerTable::default();
        timers.set(Timer::KeepAlive, Instant::START);
        Self {
            window,
            workers,
            peer_timeout,
            last_result: None,
            base: ChunkSeq::default(),
            began: 0,
            oldest: 0,
            end: 0,
            ready: VecDeque::new(),
            free: (0..window.into()).collect(),
            outstanding: VecDeque::new(),
            missed: 0,
            in_flight: alloc::vec![InFlight::default(); 2 * window as usize],
            resend: VecDeque::new(),
            sent: 0,
            reached: 0,
            probes: 0,
            frame_bytes,
            pacer: Pacer::new(frame_bytes, rate_bps),
            rate: RateControl::new(rate_bps),
            rtt: RttEstimator::default(),
            timers,
            following: Following::default(),
            session: Session::default(),
            last_heard: None,
        }
    }

    #[cfg(test)]
    pub(super) fn start_at(&mut self, sequence: ChunkSeq) {
        self.base = sequence;
    }

    /// Adds chunks and returns the first.
    pub(super) fn start(&mut self, now: Instant, chunks: u32) -> u64 {
        let first = self.end;
        let was_idle = self.is_idle();
        self.end += u64::from(chunks);
        if was_idle {
            // Nothing is in flight, and chunks may have ended in any order: a worker that starts with this
            // tensor starts with its first chunk.
            self.free.make_contiguous().sort_unstable();
        }
        let startable = |chunk: &u64| *chunk < self.end;
        self.ready.extend(self.free.iter().copied().filter(startable));
        self.free.retain(|chunk| *chunk >= self.end);
        if first == 0 {
            // So that the server knows how long the first tensor is.
            self.timers.set(Timer::KeepAlive, now);
        }
        if was_idle && !self.is_idle() {
            self.began = first;
            self.rate.start_round_trip(self.sent);
            self.last_result = None;
            self.timers.set_at_latest(Timer::KeepAlive, now + self.keepalive_interval());
            let peer_timeout_at = match self.last_heard {
                Some(heard) => {
                    (heard + self.peer_timeout).max(now + self.peer_timeout / LISTENS_PER_PEER_TIMEOUT)
                }
                None => now + STARTING_PEER_TIMEOUTS * self.peer_timeout,
            };
            self.timers.set(Timer::PeerTimeout, peer_timeout_at);
        }
        if !self.is_idle() {
            self.timers.set_at_latest(Timer::Pace, now);
        }
        first
    }

    /// Returns whether every chunk has its result.
    pub(super) fn is_idle(&self) -> bool {
        self.oldest == self.end
    }

    /// Returns the oldest chunk without a result; it may belong to a tensor that is not started yet.
    pub(super) fn oldest(&self) -> u64 {
        self.oldest
    }

    pub(super) fn sequence(&self, chunk: u64) -> ChunkSeq {
        self.base.advance(chunk as u32)
    }

    /// Returns the chunk that `sequence` names; `None` before the first.
    fn named(&self, sequence: ChunkSeq) -> Option<u64> {
        let ahead = sequence.since(self.sequence(self.oldest)) as i32;
        self.oldest.checked_add_signed(ahead.into())
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// Returns the next chunk to send now, if the server has bound this worker, and window, rate and timeouts
    /// allow it. New chunks may be sent if `has_values` returns true.
    pub(super) fn poll(&mut self, now: Instant, has_values: impl Fn(u64) -> bool) -> Option<Transmission> {
        if !self.session.bound {
            self.timers.clear(Timer::Pace);
            return None;
        }
        if self.timers.is_due(Timer::Overdue, now) {
            self.find_lost(now);
        }
        if self.timers.is_due(Timer::Probe, now) {
            self.probe(now);
        }
        self.timers.clear(Timer::Pace);
        let Some(chunk) = self.candidate(has_values) else {
            self.pacer.idle();
            return None;
        };
        if let Err(at) = self.pacer.take(now) {
            self.timers.set(Timer::Pace, at);
            return None;
        }
        if let Some(place) = self.ready.iter().position(|next| *next == chunk) {
            self.ready.remove(place);
            self.outstanding.push_back(chunk);
            let order = self.sent;
            self.sent += 1;
            let old = self.following.take_early(chunk);
            *self.entry_mut(chunk) = InFlight { chunk, waits: true, order, old, ..InFlight::default() };
        } else {
            self.resend.pop_front();
        }
        // The frame after this one waits for its own time.
        self.timers.set(Timer::Pace, now);
        self.timers.set(Timer::Probe, now + self.silence_before_result(self.probes));
        let (after, behind) = (self.sent, self.following.behind);
        let entry = self.entry_mut(chunk);
        entry.after = if entry.sends == 0 { entry.order } else { after };
        entry.queued = false;
        (entry.sent_at, entry.last_progress) = (now, now);
        entry.sends += 1;
        entry.bypass |= entry.gives_up_slot();
        // Frames without a slot use the newest tables: the others may be broken.
        let behind = behind || entry.old && !entry.bypass;
        Some(Transmission { chunk, resend: entry.sends > 1, bypass: entry.bypass, behind })
    }

    /// Returns how long to wait in silence, after `probes` such waits.
    fn silence(&self, probes: u32) -> Duration {
        self.rtt.probe_timeout(probes) + CHUNKS_OF_MARGIN * self.pacer.frame_time()
    }

    /// Returns how long to wait for a result in silence, after `probes` such waits. Before the very first,
    /// peers may still be joining, over longer paths than this worker's.
    fn silence_before_result(&self, probes: u32) -> Duration {
        let silence = self.silence(probes);
        if self.reached == 0 { silence.max(RttEstimator::INITIAL) } else { silence }
    }

    /// Returns a chunk to retransmit, else the next new one.
    fn candidate(&mut self, has_values: impl Fn(u64) -> bool) -> Option<u64> {
        while let Some(chunk) = self.resend.front().copied() {
            if self.waits(chunk) {
                return Some(chunk);
            }
            self.resend.pop_front();
        }
        let window = self.rate.window(self.window, self.frame_bytes, self.rtt.smoothed());
        if self.outstanding.len() - self.missed < window as usize {
            return self.ready.iter().copied().find(|chunk| has_values(*chunk));
        }
        // At least the oldest: other workers may wait for it.
        self.ready.contains(&self.oldest).then_some(self.oldest)
    }

    /// Returns the chunk that `sequence` names, if it was sent and has no result yet.
    pub(super) fn awaiting(&self, sequence: ChunkSeq) -> Option<u64> {
        self.named(sequence).filter(|chunk| self.waits(*chunk))
    }

    /// Returns whether that chunk was sent and has no result yet.
    fn waits(&self, chunk: u64) -> bool {
        let entry = self.entry(chunk);
        entry.chunk == chunk && entry.waits
    }

    /// Returns whether `sequence` names a chunk that has its result.
    pub(super) fn is_answered(&self, sequence: ChunkSeq) -> bool {
        self.named(sequence).is_none_or(|chunk| chunk < self.end && self.has_result(chunk))
    }

    /// Returns whether that chunk has its result.
    fn has_result(&self, chunk: u64) -> bool {
        let entry = self.entry(chunk);
        entry.sends > 0 && (entry.chunk > chunk || entry.chunk == chunk && !entry.waits)
    }

    /// Returns whether the server is known to have that chunk's sum.
    fn has_ended(&self, chunk: u64) -> bool {
        let entry = self.entry(chunk);
        entry.sends > 0 && (entry.chunk > chunk || entry.chunk == chunk && entry.ended)
    }

    /// Ends a chunk: the next at its window position may be sent, if the result of the previous one has
    /// arrived. `old` is true if that one uses the worker's previous plan version.
    fn end(&mut self, chunk: u64, old: bool) {
        let entry = self.entry_mut(chunk);
        if entry.ended {
            return;
        }
        (entry.ended, entry.next_old) = (true, old);
        if chunk.checked_sub(self.window.into()).is_none_or(|before| self.has_result(before)) {
            self.release(chunk);
        }
    }

    /// Allows the chunk after this one at its window position to be sent.
    fn release(&mut self, chunk: u64) {
        let next = chunk + u64::from(self.window);
        if self.following.coordinated && !self.following.behind && self.entry(chunk).next_old {
            self.following.early.push(next);
        }
        if next < self.end {
            self.ready.push_back(next);
        } else {
            self.free.push_back(next);
        }
    }

    /// Processes the feedback of a result, for the worker with that bitmap index. `old` is true if the chunk
    /// after the ended one uses the worker's previous plan version.
    pub(super) fn take_feedback(
        &mut self,
        now: Instant,
        feedback: Feedback,
        bitmap_index: BitmapIndex,
        old: bool,
    ) {
        if let Some(chunk) = feedback.ended.and_then(|sequence| self.awaiting(sequence)) {
            self.missed += usize::from(!self.entry(chunk).ended);
            self.end(chunk, old);
            self.lose_if_sent_once(now, chunk);
        }
        if let Some((sequence, lacking)) = feedback.lacking
            && let Some(chunk) = self.awaiting(sequence)
            && !lacking.may_include(bitmap_index)
        {
            let sent = self.sent;
            let entry = self.entry_mut(chunk);
            (entry.there, entry.after, entry.last_progress) = (true, sent, now);
        }
    }

    /// Handles a result for a chunk, with flag congestion or without. `old` is true if the chunk after it at
    /// its window position uses the worker's previous plan version.
    pub(super) fn answer(&mut self, now: Instant, chunk: u64, marked: bool, old: bool) {
        self.last_result = Some(now);
        let entry = self.entry_mut(chunk);
        entry.waits = false;
        let (sends, time, order) = (entry.sends, now.since(entry.sent_at), entry.order);
        let missed = entry.ended;
        self.missed -= usize::from(missed);
        self.reached = self.reached.max(order + 1);
        if let Some(place) = self.outstanding.iter().position(|sent| *sent == chunk) {
            self.outstanding.remove(place);
        }
        self.end(chunk, old);
        // The one after the next waited for this result, if the next has ended before.
        let next = chunk + u64::from(self.window);
        if self.has_ended(next) {
            self.release(next);
        }
        // After a repeat, the time may be that from the first sending or from another.
        let marked = sends == 1 && self.rate.is_current(time, self.pacer.frame_time()) && marked;
        if self.rate.answered(order, self.sent, marked, self.rtt.is_queued()) {
            self.pacer.set_rate(self.frame_bytes, self.rate.rate_bps());
        }
        while self.has_result(self.oldest) {
            self.oldest += 1;
        }
        self.probes = 0;
        self.settle_rate();
        if self.is_idle() {
            self.resend.clear();
            for timer in [Timer::Pace, Timer::Overdue, Timer::Probe, Timer::PeerTimeout] {
                self.timers.clear(timer);
            }
        } else {
            self.find_lost(now);
            self.timers.set(Timer::Probe, now + self.silence(0));
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }

    fn index(&self, chunk: u64) -> usize {
        (chunk & u64::from(2 * self.window - 1)) as usize
    }

    pub(super) fn entry(&self, chunk: u64) -> &InFlight {
        &self.in_flight[self.index(chunk)]
    }

    pub(super) fn entry_mut(&mut self, chunk: u64) -> &mut InFlight {
        let index = self.index(chunk);
        &mut self.in_flight[index]
    }
}
