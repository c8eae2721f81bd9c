//! How a worker and a shard's server know that the other is there.

use core::time::Duration;

use inart_wire::{ChunkSeq, Incarnation};

use super::ShardFlow;
use super::session::Meeting;
use crate::Instant;
use crate::patience::{KEEPALIVES_PER_PATIENCE, LISTENS_PER_PATIENCE};
use crate::timer::Timer;

/// How often the server is told while chunks are under way that this worker is there, and the round trip is measured, in round trips.
const ROUND_TRIPS_PER_NOTE: u32 = 64;
/// Not more often than that.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
/// The same while no round trip is known: chunks wait for the first answer.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);
/// And then no more often than once in the time of so many chunks while no round trip is known: a note is as long as a
/// chunk, and on slow links notes must not fill the queue whose wait they are to measure.
const CHUNKS_PER_NOTE: u32 = 16;

impl ShardFlow {
    /// Names the run; unknown before the server's first answer.
    pub(in crate::worker) fn run(&self) -> Incarnation {
        self.session.run
    }

    /// The server speaks, in that run; false if it is another life than the one that is known.
    pub(in crate::worker) fn meet(&mut self, now: Instant, run: Incarnation) -> bool {
        let meeting = self.session.meet(run);
        if meeting == Meeting::First {
            self.timers.set(Timer::Alive, now);
        }
        meeting != Meeting::OtherLife
    }

    /// The server was heard from.
    pub(in crate::worker) fn heard(&mut self, now: Instant) {
        self.last_heard = Some(now);
        if !self.is_idle() {
            self.timers.set(Timer::Patience, now + self.patience);
        }
    }

    /// Whether the server was silent for longer than the patience, and this host was there to hear it.
    pub(in crate::worker) fn poll_silence(&mut self, now: Instant) -> bool {
        let listen = self.patience / LISTENS_PER_PATIENCE;
        let late = self.timers.take_due(Timer::Patience, now);
        if late.is_some_and(|late| late > listen) {
            self.timers.set(Timer::Patience, now + listen);
        }
        late.is_some_and(|late| late <= listen)
    }

    /// If the server is to be told that this worker is there: the number of the note, which then counts as sent.
    pub(in crate::worker) fn poll_alive(&mut self, now: Instant) -> Option<ChunkSeq> {
        if !self.timers.is_due(Timer::Alive, now) {
            return None;
        }
        let number = self.session.next_note(now);
        self.timers.set(Timer::Alive, now + self.note_interval());
        Some(number)
    }

    /// Time from one note to the next: while chunks are under way, often enough to know the round trip.
    pub(super) fn note_interval(&self) -> Duration {
        let longest = self.patience / KEEPALIVES_PER_PATIENCE;
        let interval = match self.rtt.smoothed() {
            _ if self.is_idle() => longest,
            Some(time) if self.session.bound => ROUND_TRIPS_PER_NOTE * time,
            // Chunks wait for this answer.
            Some(_) => return self.silence(self.session.tries).min(longest),
            // Only the last note's answer tells the round trip, so each is given twice the time of the one before.
            None => {
                let time =
                    CHUNKS_PER_NOTE * self.pacer.frame_time() * ((1 << self.session.tries.min(10)) - 1);
                return time.max(FIRST_INTERVAL).min(longest);
            }
        };
        interval.max(SHORTEST_INTERVAL).min(longest)
    }

    /// The server answers that note.
    pub(in crate::worker) fn alive_answered(&mut self, now: Instant, note: ChunkSeq, bound: bool) {
        if note == self.session.note.0 {
            self.rtt.sample(now.since(self.session.note.1));
        }
        if bound && !self.session.bound {
            self.session.bound = true;
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }
}
