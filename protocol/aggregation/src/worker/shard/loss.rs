//! Detection and retransmission of lost chunks.

use super::ShardFlow;
use crate::Instant;
use crate::timer::Timer;

/// Repeats of one chunk between which the time does not double.
const EQUAL_REPEATS: u32 = 3;

/// Reordering threshold: a chunk is lost when the one sent this many positions later, or one after that, has
/// its result (RFC 9002, 6.1.1).
const REORDERED_CHUNKS: u64 = 3;

impl ShardFlow {
    /// Queues the chunks whose results are overdue, judging by later ones.
    pub(super) fn find_lost(&mut self, now: Instant) {
        self.timers.clear(Timer::Overdue);
        let time = self.rtt.overdue();
        for place in 0..self.outstanding.len() {
            let (chunk, reached) = (self.outstanding[place], self.reached);
            let entry = self.entry(chunk);
            if entry.order >= reached {
                break;
            }
            if entry.queued {
                continue;
            }
            let overdue =
                entry.last_progress + time * (1 << entry.sends.saturating_sub(1 + EQUAL_REPEATS).min(8));
            let late = overdue <= now;
            let lost = if entry.after + REORDERED_CHUNKS < reached {
                // Peers repeat a chunk at different positions among their others, and chunks and results of
                // two plan versions use two paths, so after a repeat or a migration order is not enough.
                entry.sends == 1 && entry.sends_before == 0 && !entry.old && !entry.there || late
            } else {
                late && self.sent <= entry.after + REORDERED_CHUNKS
            };
            if lost {
                self.lose(chunk);
            } else if !late {
                self.timers.set_at_latest(Timer::Overdue, overdue);
            }
        }
    }

    /// Sends the oldest and the newest chunk again after silence.
    pub(super) fn probe(&mut self, now: Instant) {
        self.timers.clear(Timer::Probe);
        if let (Some(newest), true) = (self.outstanding.back().copied(), self.resend.is_empty()) {
            self.probes += 1;
            // By number: the oldest chunk that any worker lacks is the oldest at every worker that lacks it.
            if self.waits(self.oldest) {
                self.queue(self.oldest);
            }
            self.queue(newest);
        }
        self.timers.set(Timer::Probe, now + self.silence_before_result(self.probes));
    }

    /// A frame of that chunk was lost.
    pub(super) fn lose(&mut self, chunk: u64) {
        self.rate.lost();
        self.queue(chunk);
    }

    pub(super) fn queue(&mut self, chunk: u64) {
        if !core::mem::replace(&mut self.entry_mut(chunk).queued, true) {
            self.resend.push_back(chunk);
        }
    }

    /// Handles the server's request to send this chunk by bypass.
    pub(in crate::worker) fn request(&mut self, now: Instant, chunk: u64) {
        self.entry_mut(chunk).bypass = true;
        self.queue(chunk);
        self.timers.set_at_latest(Timer::Pace, now);
    }

    /// A frame of that chunk was lost; if it was retransmitted, that may repair it.
    pub(super) fn lose_if_sent_once(&mut self, now: Instant, chunk: u64) {
        let entry = self.entry(chunk);
        // Results of two plan versions use two paths.
        if entry.sends_here() == 1 && !entry.queued && !entry.old {
            self.lose(chunk);
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }
}
