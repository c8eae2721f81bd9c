//! Messages to one process, in order: the next one leaves when the previous one is acknowledged. Messages on
//! connections have a stream each, and may overtake each other.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

/// Time after which a failed message is retransmitted.
pub const PAUSE: Duration = Duration::from_millis(10);

/// Default for the most waiting messages. No honest process has more answers to read.
const MOST_WAITING: usize = 256;

/// Messages of one connection. One that fails is retransmitted while the connection exists.
#[derive(Debug, Clone)]
pub struct Lane {
    waiting: VecDeque<Bytes>,
    under_way: Option<u64>,
    not_before: Duration,
    most: usize,
}

impl Default for Lane {
    fn default() -> Self {
        Lane::of(MOST_WAITING)
    }
}

impl Lane {
    /// Creates a lane in which at most `most` messages wait.
    pub fn of(most: usize) -> Self {
        Lane { waiting: VecDeque::new(), under_way: None, not_before: Duration::ZERO, most }
    }

    fn begun(&self) -> usize {
        usize::from(self.under_way.is_some())
    }

    /// Adds a message unless an equal one waits already. Returns whether it waits now: a full lane accepts
    /// none.
    pub fn push(&mut self, data: Bytes) -> bool {
        let is_there = self.waiting.iter().skip(self.begun()).any(|other| *other == data);
        let has_room = self.waiting.len() < self.most;
        if !is_there && has_room {
            self.waiting.push_back(data);
        }
        is_there || has_room
    }

    /// Adds a message. A full lane drops the oldest waiting one.
    pub fn push_newest(&mut self, data: Bytes) {
        if self.waiting.len() >= self.most {
            self.waiting.remove(self.begun());
        }
        self.waiting.push_back(data);
    }

    /// Drops the messages that have not left.
    pub fn clear_waiting(&mut self) {
        self.waiting.truncate(self.begun());
    }

    /// Returns the message that leaves now, under the number `id`, if any.
    pub fn next(&mut self, id: u64, now: Duration) -> Option<Bytes> {
        if self.under_way.is_some() || now < self.not_before {
            return None;
        }
        let data = self.waiting.front()?.clone();
        self.under_way = Some(id);
        Some(data)
    }

    /// Takes note of the end of a message. Returns whether it was one of this lane.
    pub fn ended(&mut self, id: u64, is_taken: bool, now: Duration) -> bool {
        if self.under_way != Some(id) {
            return false;
        }
        self.under_way = None;
        match is_taken {
            true => drop(self.waiting.pop_front()),
            false => self.not_before = now + PAUSE,
        }
        true
    }

    /// Returns when a message that waits for time may leave.
    pub fn wake_at(&self) -> Option<Duration> {
        (self.under_way.is_none() && !self.waiting.is_empty()).then_some(self.not_before)
    }

    /// Returns whether all messages were acknowledged.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_leave_one_at_a_time_and_failed_ones_are_retransmitted() {
        let (mut lane, now) = (Lane::default(), Duration::ZERO);
        lane.push(Bytes::from_static(b"a"));
        lane.push(Bytes::from_static(b"b"));
        lane.push(Bytes::from_static(b"b"));
        assert_eq!(lane.next(1, now).as_deref(), Some(&b"a"[..]));
        assert_eq!(lane.next(2, now), None, "the first one is in flight");
        // The first one may have arrived: an equal message is a new one.
        lane.push(Bytes::from_static(b"a"));
        assert!(lane.ended(1, false, now) && !lane.ended(1, true, now));
        assert_eq!((lane.next(2, now), lane.wake_at()), (None, Some(PAUSE)));
        let mut seen = Vec::new();
        for id in 2..9 {
            seen.extend(lane.next(id, PAUSE));
            lane.ended(id, true, PAUSE);
        }
        assert_eq!(seen, [&b"a"[..], b"b", b"a"]);
        assert!(lane.is_empty() && lane.wake_at().is_none());
    }

    #[test]
    fn a_full_lane_refuses_the_next_message_or_drops_the_oldest_one_that_waits() {
        let number = |number: u32| Bytes::from(number.to_be_bytes().to_vec());
        let (mut lane, now) = (Lane::of(3), Duration::ZERO);
        assert!((0..3).all(|at| lane.push(number(at))) && !lane.push(number(3)));
        assert_eq!(lane.next(1, now), Some(number(0)));
        (4..9).for_each(|at| lane.push_newest(number(at)));
        lane.ended(1, true, now);
        let mut left = Vec::new();
        while let Some(data) = lane.next(2, now) {
            left.push(data);
            lane.ended(2, true, now);
        }
        assert_eq!(left, [7, 8].map(number), "the one in flight is not dropped");
    }
}
