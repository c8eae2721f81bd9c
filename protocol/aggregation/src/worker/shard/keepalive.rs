//! Keep-alives between a worker and a shard's server.

use core::time::Duration;

use inart_wire::{ChunkSeq, Incarnation};

use super::ShardFlow;
use super::session::Meeting;
use crate::Instant;
use crate::peer_timeout::{
    KEEPALIVES_PER_PEER_TIMEOUT, LISTENS_PER_PEER_TIMEOUT, LONGEST_FIRST_INTERVAL, LONGEST_KEEPALIVE_INTERVAL,
};
use crate::timer::Timer;

/// Interval of keep-alives while chunks are in flight, in round trips. Each one measures the round trip.
const ROUND_TRIPS_PER_KEEPALIVE: u32 = 64;
/// Shortest keep-alive interval.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
/// The first interval while no round trip is known: chunks wait for the first answer.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);
/// Shortest later interval while no round trip is known, in chunk times. A keep-alive is as long as a chunk,
/// and on slow links keep-alives must not fill the queue whose delay they measure.
const CHUNKS_PER_KEEPALIVE: u32 = 16;
/// Number of chunks of one worker per keep-alive of all workers together, while results arrive. Plans do not
/// count keep-alives, and these are not summed on the way: near a server, those of 50 workers would take as
/// much of a link as a flow.
const CHUNKS_PER_KEEPALIVE_OF_ALL: u32 = 32;

impl ShardFlow {
    /// Names the run; unknown before the server's first answer.
    pub(in crate::worker) fn run(&self) -> Incarnation {
        self.session.run
    }

    /// Handles a frame of the server in that run. Returns false if it is another incarnation than the known
    /// one.
    pub(in crate::worker) fn meet(&mut self, now: Instant, run: Incarnation) -> bool {
        let meeting = self.session.meet(run);
        if meeting == Meeting::First {
            self.timers.set(Timer::KeepAlive, now);
        }
        meeting != Meeting::OtherIncarnation
    }

    /// Makes the next keep-alive due now.
    pub(in crate::worker) fn hasten_keepalive(&mut self, now: Instant) {
        self.timers.set(Timer::KeepAlive, now);
    }

    /// Records a frame of the server.
    pub(in crate::worker) fn heard(&mut self, now: Instant) {
        self.last_heard = Some(now);
        if !self.is_idle() {
            self.timers.set(Timer::PeerTimeout, now + self.peer_timeout);
        }
    }

    /// Returns whether the server was silent for longer than the peer timeout, and this host was listening.
    pub(in crate::worker) fn poll_silence(&mut self, now: Instant) -> bool {
        let listen = self.peer_timeout / LISTENS_PER_PEER_TIMEOUT;
        let late = self.timers.take_expired(Timer::PeerTimeout, now);
        if late.is_some_and(|late| late > listen) {
            self.timers.set(Timer::PeerTimeout, now + listen);
        }
        late.is_some_and(|late| late <= listen)
    }

    /// Returns the number of a due keep-alive, which then counts as sent.
    pub(in crate::worker) fn poll_keepalive(&mut self, now: Instant) -> Option<ChunkSeq> {
        if !self.timers.is_due(Timer::KeepAlive, now) {
            return None;
        }
        // Otherwise it is sent early for another reason.
        let is_periodic = now >= self.session.next_at;
        self.session.next_at = now + self.keepalive_interval();
        self.timers.set(Timer::KeepAlive, self.session.next_at);
        let longest = self.peer_timeout / KEEPALIVES_PER_PEER_TIMEOUT;
        let flows = self.session.bound
            && !self.is_idle()
            && self.last_result.is_some_and(|last| now.since(last) <= longest);
        if is_periodic && flows && now.since(self.session.keepalive.1) < self.spacing() {
            return None;
        }
        Some(self.session.next_keepalive(now))
    }

    /// Returns the shortest time between periodic keep-alives while results arrive: results show the server
    /// that this worker is alive.
    fn spacing(&self) -> Duration {
        let time = CHUNKS_PER_KEEPALIVE_OF_ALL.saturating_mul(self.workers) * self.pacer.frame_time();
        time.min(self.peer_timeout)
    }

    /// Returns the keep-alive interval. While chunks are in flight it is short, so that the round trip is
    /// known.
    pub(super) fn keepalive_interval(&self) -> Duration {
        let longest = self.peer_timeout / KEEPALIVES_PER_PEER_TIMEOUT;
        let interval = match self.rtt.smoothed() {
            _ if self.is_idle() => return longest.min(LONGEST_KEEPALIVE_INTERVAL),
            Some(time) if self.session.bound => ROUND_TRIPS_PER_KEEPALIVE * time,
            // Chunks wait for this answer.
            Some(_) => return self.silence(self.session.tries).min(longest.min(LONGEST_FIRST_INTERVAL)),
            // Only the last keep-alive's answer shows the round trip, so each has twice the time of the
            // previous one.
            None => {
                let time =
                    CHUNKS_PER_KEEPALIVE * self.pacer.frame_time() * ((1 << self.session.tries.min(10)) - 1);
                return time.max(FIRST_INTERVAL).min(longest.min(LONGEST_FIRST_INTERVAL));
            }
        };
        interval.max(SHORTEST_INTERVAL).min(longest)
    }

    /// Handles the server's answer to that keep-alive.
    pub(in crate::worker) fn keepalive_answered(&mut self, now: Instant, number: ChunkSeq, bound: bool) {
        if number == self.session.keepalive.0 {
            self.rtt.sample(now.since(self.session.keepalive.1));
        }
        if bound && !self.session.bound {
            self.session.bound = true;
            self.timers.set_at_latest(Timer::Pace, now);
        }
    }
}
