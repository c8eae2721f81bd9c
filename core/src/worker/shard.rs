//! One shard's chunks on their way.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::ChunkSeq;

use crate::Instant;
use crate::pacer::Pacer;
use crate::rtt::RttEstimator;
use crate::timer::{Timer, TimerTable};

/// Timeouts of one chunk after which it goes to the server alone.
const BYPASS_AFTER_TIMEOUTS: u32 = 6;

/// A chunk that was sent and not yet answered, or answered before an older one.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    pub(super) answered: bool,
    /// Whether it waits in `resend`.
    queued: bool,
    bypass: bool,
    timeouts: u32,
    pub(super) sends: u32,
    pub(super) sent_at: Instant,
    /// When it is sent again; `None` while it is queued.
    deadline: Option<Instant>,
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
    pub(super) pacer: Pacer,
    pub(super) rtt: RttEstimator,
    timers: TimerTable,
    /// When the server was last heard from, if ever.
    pub(super) last_heard: Option<Instant>,
}

impl ShardFlow {
    pub(super) fn new(window: u32, pacer: Pacer, patience: Duration) -> Self {
        Self {
            window,
            patience,
            chunks: 0,
            base: ChunkSeq::default(),
            oldest: 0,
            next: 0,
            in_flight: alloc::vec![InFlight::default(); window as usize],
            resend: VecDeque::new(),
            pacer,
            rtt: RttEstimator::default(),
            timers: TimerTable::default(),
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
        self.resend.clear();
        self.timers = TimerTable::default();
        if chunks > 0 {
            self.timers.set(Timer::Patience, now + self.patience);
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

    /// Whether the server was silent for longer than the patience.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        self.timers.is_due(Timer::Patience, now)
    }

    /// The next chunk to send now, if window, rate and timeouts say so.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Transmission> {
        if self.timers.is_due(Timer::Retransmit, now) {
            self.expire(now);
        }
        self.timers.clear(Timer::Pace);
        let chunk = self.candidate()?;
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
        let timeouts = self.slot(chunk).timeouts;
        let timeout = self.rtt.timeout(timeouts);
        let slot = self.slot(chunk);
        slot.queued = false;
        slot.sent_at = now;
        slot.sends += 1;
        slot.deadline = Some(now + timeout);
        let transmission = Transmission { chunk, resend: slot.sends > 1, bypass: slot.bypass };
        self.timers.set_at_latest(Timer::Retransmit, now + timeout);
        Some(transmission)
    }

    /// A chunk to send again, else the next new one.
    fn candidate(&mut self) -> Option<u32> {
        while let Some(chunk) = self.resend.front().copied() {
            if chunk >= self.oldest && !self.slot(chunk).answered {
                return Some(chunk);
            }
            self.resend.pop_front();
        }
        (self.next < self.chunks && self.next - self.oldest < self.window).then_some(self.next)
    }

    /// Queues the chunks whose time is up. The timer is set to the earliest of the others; results that come before
    /// leave it too early, never too late.
    fn expire(&mut self, now: Instant) {
        self.timers.clear(Timer::Retransmit);
        for chunk in self.oldest..self.next {
            let slot = self.slot(chunk);
            match slot.deadline.filter(|_| !slot.answered) {
                Some(at) if at <= now => {
                    slot.timeouts += 1;
                    slot.bypass |= slot.timeouts >= BYPASS_AFTER_TIMEOUTS;
                    let sent_at = slot.sent_at;
                    self.rtt.timed_out(now, sent_at);
                    self.queue(chunk);
                }
                Some(at) => self.timers.set_at_latest(Timer::Retransmit, at),
                None => {}
            }
        }
    }

    fn queue(&mut self, chunk: u32) {
        let slot = self.slot(chunk);
        slot.deadline = None;
        if !core::mem::replace(&mut slot.queued, true) {
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

    /// A result ended this chunk.
    pub(super) fn answer(&mut self, now: Instant, chunk: u32) {
        let slot = self.slot(chunk);
        slot.answered = true;
        let (sends, sent_at) = (slot.sends, slot.sent_at);
        // A chunk sent twice does not tell which sending was answered (Karn).
        if sends == 1 {
            self.rtt.sample(now.since(sent_at));
        }
        while self.oldest < self.next && self.slot(self.oldest).answered {
            self.oldest += 1;
        }
        if self.is_done() {
            self.timers = TimerTable::default();
        } else {
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
