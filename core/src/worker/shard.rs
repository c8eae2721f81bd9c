//! One shard's chunks on their way.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::ChunkSeq;

use super::congestion::RateControl;
use crate::Instant;
use crate::pacer::Pacer;
use crate::patience::{KEEPALIVES_PER_PATIENCE, LISTENS_PER_PATIENCE, STARTING_PATIENCES};
use crate::rtt::RttEstimator;
use crate::timer::{Timer, TimerTable};

/// Repeats of one chunk after which it goes to the server alone: its slot may wait for somebody who has the result and repeats
/// no more.
const BYPASS_AFTER_REPEATS: u32 = 10;

/// Repeats of one chunk between which the time does not double.
const EQUAL_REPEATS: u32 = 3;

/// A chunk is lost when the chunk so many places later has its result (RFC 9002, 6.1.1).
const REORDERED_CHUNKS: u32 = 3;

/// How often the server is told in a round that this worker is there, and the round trip is measured, in round trips.
const ROUND_TRIPS_PER_NOTE: u32 = 64;
/// Not more often than that.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
/// After the first, nor more often than once in the time of so many chunks while no round trip is known: a note is as long as a
/// chunk, and on slow links notes must not fill the queue whose wait they are to measure.
const CHUNKS_PER_NOTE: u32 = 16;

/// A chunk's result may be so many chunks' time later than the round trip says: peers send theirs at another moment, and all
/// of them may queue for one link.
const CHUNKS_OF_PATIENCE: u32 = 4;

/// A chunk that was sent and not yet answered, or answered before an older one.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    pub(super) answered: bool,
    /// Whether it waits in `resend`.
    queued: bool,
    bypass: bool,
    pub(super) sends: u32,
    pub(super) sent_at: Instant,
}

/// What to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission {
    /// Chunk of the shard in this round.
    pub chunk: u32,
    pub resend: bool,
    pub bypass: bool,
}

/// Window, pacing and retransmission of one shard's chunks, which are counted from 0 in each round. Knows no values.
///
/// Loss is found as QUIC finds it (RFC 9002): a chunk is lost when results of later chunks are there and its own is overdue.
/// What counts is the order of chunks, since every peer sends them in that order at first, and not that of frames:
/// peers send them again in any. In silence, only the oldest and the newest chunk are sent again; their results then tell
/// which others are lost.
#[derive(Clone, Debug)]
pub(super) struct ShardFlow {
    window: u32,
    patience: Duration,
    pub(super) chunks: u32,
    /// Sequence of this round's chunk 0.
    base: ChunkSeq,
    /// Oldest chunk without a result: `oldest + window` may not be sent.
    pub(super) oldest: u32,
    /// First chunk never sent.
    pub(super) next: u32,
    /// Ring over the window.
    pub(super) in_flight: Vec<InFlight>,
    resend: VecDeque<u32>,
    /// First chunk of which neither it nor any later one has its result.
    answered: u32,
    /// Chunks before that whose own results are not there, ascending; some that came since.
    gaps: Vec<u32>,
    /// Waits in silence since the last result.
    probes: u32,
    frame_bytes: usize,
    pacer: Pacer,
    pub(super) rate: RateControl,
    pub(super) rtt: RttEstimator,
    timers: TimerTable,
    /// The last note to the server, and when it was sent.
    note: (ChunkSeq, Instant),
    /// When the server was last heard from, if ever.
    pub(super) last_heard: Option<Instant>,
}

impl ShardFlow {
    /// A flow of frames of `frame_bytes` bytes at `rate_bps`; `window` is a power of two.
    pub(super) fn new(window: u32, frame_bytes: usize, rate_bps: f64, patience: Duration) -> Self {
        let mut timers = TimerTable::default();
        timers.set(Timer::Alive, Instant::START);
        Self {
            window,
            patience,
            chunks: 0,
            base: ChunkSeq::default(),
            oldest: 0,
            next: 0,
            in_flight: alloc::vec![InFlight::default(); window as usize],
            resend: VecDeque::new(),
            answered: 0,
            gaps: Vec::new(),
            probes: 0,
            frame_bytes,
            pacer: Pacer::new(frame_bytes, rate_bps),
            rate: RateControl::new(rate_bps),
            rtt: RttEstimator::default(),
            timers,
            note: (ChunkSeq::default(), Instant::START),
            last_heard: None,
        }
    }

    #[cfg(test)]
    pub(super) fn start_at(&mut self, sequence: ChunkSeq) {
        self.base = sequence;
    }

    /// Starts a round of that many chunks; the round before has ended.
    pub(super) fn start(&mut self, now: Instant, chunks: u32) {
        debug_assert!(self.is_done(), "rounds do not overlap");
        self.base = self.base.advance(self.chunks);
        self.chunks = chunks;
        self.oldest = 0;
        self.next = 0;
        self.answered = 0;
        self.rate.start_round_trip(0);
        if chunks > 0 {
            self.timers.set_at_latest(Timer::Alive, now + self.note_interval());
            let patient_until = match self.last_heard {
                Some(heard) => (heard + self.patience).max(now + self.patience / LISTENS_PER_PATIENCE),
                None => now + STARTING_PATIENCES * self.patience,
            };
            self.timers.set(Timer::Patience, patient_until);
            self.timers.set(Timer::Pace, now);
        }
    }

    /// Whether every chunk of the round has its result.
    pub(super) fn is_done(&self) -> bool {
        self.oldest == self.chunks
    }

    pub(super) fn is_last(&self, chunk: u32) -> bool {
        chunk + 1 == self.chunks
    }

    /// The oldest chunk without a result, of this round or, after it, of the next.
    pub(super) fn oldest(&self) -> ChunkSeq {
        self.sequence(self.oldest)
    }

    pub(super) fn sequence(&self, chunk: u32) -> ChunkSeq {
        self.base.advance(chunk)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// The server was heard from.
    pub(super) fn heard(&mut self, now: Instant) {
        self.last_heard = Some(now);
        if !self.is_done() {
            self.timers.set(Timer::Patience, now + self.patience);
        }
    }

    /// Whether the server was silent for longer than the patience, and this host was there to hear it.
    pub(super) fn poll_silence(&mut self, now: Instant) -> bool {
        let listen = self.patience / LISTENS_PER_PATIENCE;
        let late = self.timers.take_due(Timer::Patience, now);
        if late.is_some_and(|late| late > listen) {
            self.timers.set(Timer::Patience, now + listen);
        }
        late.is_some_and(|late| late <= listen)
    }

    /// If the server is to be told that this worker is there: the number of the note, which then counts as sent.
    pub(super) fn poll_alive(&mut self, now: Instant) -> Option<ChunkSeq> {
        if !self.timers.is_due(Timer::Alive, now) {
            return None;
        }
        self.note = (self.note.0.advance(1), now);
        self.timers.set(Timer::Alive, now + self.note_interval());
        Some(self.note.0)
    }

    /// Time from one note to the next: in a round, often enough to know the round trip.
    fn note_interval(&self) -> Duration {
        let longest = self.patience / KEEPALIVES_PER_PATIENCE;
        let interval = match self.rtt.smoothed() {
            _ if self.is_done() => longest,
            Some(time) => ROUND_TRIPS_PER_NOTE * time,
            // Only the last note's answer tells the round trip, so each is given twice the time of the one before.
            None => CHUNKS_PER_NOTE * self.pacer.frame_time() * ((1 << self.note.0.get().min(10)) - 1),
        };
        interval.max(SHORTEST_INTERVAL).min(longest)
    }

    /// The server answers that note.
    pub(super) fn alive_answered(&mut self, now: Instant, note: ChunkSeq) {
        if note == self.note.0 {
            self.rtt.sample(now.since(self.note.1));
        }
    }

    /// The next chunk to send now, if window, rate and timeouts say so.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Transmission> {
        if self.timers.is_due(Timer::Overdue, now) {
            self.find_lost(now);
        }
        if self.timers.is_due(Timer::Probe, now) {
            self.probe(now);
        }
        self.timers.clear(Timer::Pace);
        let Some(chunk) = self.candidate() else {
            self.pacer.idle();
            return None;
        };
        if let Err(at) = self.pacer.take(now) {
            self.timers.set(Timer::Pace, at);
            return None;
        }
        if chunk == self.next {
            self.next += 1;
            *self.slot(chunk) = InFlight::default();
        } else {
            self.resend.pop_front();
        }
        // What follows this frame waits for its own turn.
        self.timers.set(Timer::Pace, now);
        self.timers.set(Timer::Probe, now + self.silence(self.probes));
        let slot = self.slot(chunk);
        slot.queued = false;
        slot.sent_at = now;
        slot.sends += 1;
        slot.bypass |= slot.sends > BYPASS_AFTER_REPEATS;
        Some(Transmission { chunk, resend: slot.sends > 1, bypass: slot.bypass })
    }

    /// How long to wait in silence, after `probes` such waits.
    fn silence(&self, probes: u32) -> Duration {
        self.rtt.probe_timeout(probes) + CHUNKS_OF_PATIENCE * self.pacer.frame_time()
    }

    /// A chunk to send again, else the next new one.
    fn candidate(&mut self) -> Option<u32> {
        while let Some(chunk) = self.resend.front().copied() {
            if chunk >= self.oldest && !self.slot(chunk).answered {
                return Some(chunk);
            }
            self.resend.pop_front();
        }
        let window = self.rate.window(self.window, self.frame_bytes, self.rtt.smoothed());
        (self.next < self.chunks && self.next - self.oldest < window).then_some(self.next)
    }

    /// Queues the chunks whose results are overdue, as later ones tell.
    fn find_lost(&mut self, now: Instant) {
        self.timers.clear(Timer::Overdue);
        let time = self.rtt.overdue();
        let mut gaps = core::mem::take(&mut self.gaps);
        gaps.retain(|&chunk| {
            let (oldest, answered) = (self.oldest, self.answered);
            let slot = self.slot(chunk);
            if chunk < oldest || slot.answered {
                return false;
            }
            if slot.queued {
                return true;
            }
            let overdue = slot.sent_at + time * (1 << slot.sends.saturating_sub(1 + EQUAL_REPEATS).min(8));
            // Peers repeat a chunk at different places among their others, so after a repeat only time counts.
            if slot.sends == 1 && chunk + REORDERED_CHUNKS < answered || overdue <= now {
                self.rate.lost();
                self.queue(chunk);
            } else {
                self.timers.set_at_latest(Timer::Overdue, overdue);
            }
            true
        });
        self.gaps = gaps;
    }

    /// Sends the oldest and the newest chunk again after silence.
    fn probe(&mut self, now: Instant) {
        self.timers.clear(Timer::Probe);
        if self.oldest < self.next && self.resend.is_empty() {
            self.probes += 1;
            self.queue(self.oldest);
            if !self.slot(self.next - 1).answered {
                self.queue(self.next - 1);
            }
        }
        self.timers.set(Timer::Probe, now + self.silence(self.probes));
    }

    fn queue(&mut self, chunk: u32) {
        if !core::mem::replace(&mut self.slot(chunk).queued, true) {
            self.resend.push_back(chunk);
        }
    }

    /// The server wants this chunk by bypass.
    pub(super) fn request(&mut self, now: Instant, chunk: u32) {
        self.slot(chunk).bypass = true;
        self.queue(chunk);
        self.timers.set_at_latest(Timer::Pace, now);
    }

    /// The chunk of this round that `sequence` names, if it was sent and has no result yet.
    pub(super) fn awaiting(&self, sequence: ChunkSeq) -> Option<u32> {
        let chunk = sequence.since(self.base);
        let sent = (self.oldest..self.next).contains(&chunk);
        (sent && !self.in_flight[self.index(chunk)].answered).then_some(chunk)
    }

    /// Whether `sequence` names a chunk that has its result: of this round, or of one before.
    pub(super) fn is_answered(&self, sequence: ChunkSeq) -> bool {
        sequence < self.base.advance(self.next) && self.awaiting(sequence).is_none()
    }

    /// A result, with flag congestion or without, ended this chunk.
    pub(super) fn answer(&mut self, now: Instant, chunk: u32, marked: bool) {
        let slot = self.slot(chunk);
        slot.answered = true;
        let (sends, time) = (slot.sends, now.since(slot.sent_at));
        self.gaps.extend(self.answered..chunk);
        self.answered = self.answered.max(chunk + 1);
        // After a repeat, the time may be that from the first sending or from another.
        let marked = sends == 1 && self.rate.is_news(time, self.pacer.frame_time()) && marked;
        if self.rate.answered(chunk, self.next, marked, self.rtt.is_queued()) {
            self.pacer.set_rate(self.frame_bytes, self.rate.rate_bps());
        }
        while self.oldest < self.next && self.slot(self.oldest).answered {
            self.oldest += 1;
        }
        self.probes = 0;
        if self.is_done() {
            self.resend.clear();
            self.gaps.clear();
            for timer in [Timer::Pace, Timer::Overdue, Timer::Probe, Timer::Patience] {
                self.timers.clear(timer);
            }
        } else {
            self.find_lost(now);
            self.timers.set(Timer::Probe, now + self.silence(0));
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }

    pub(super) fn index(&self, chunk: u32) -> usize {
        (chunk & (self.window - 1)) as usize
    }

    fn slot(&mut self, chunk: u32) -> &mut InFlight {
        let index = self.index(chunk);
        &mut self.in_flight[index]
    }
}
