//! Messages to one process, in their order: the next one leaves when the one before was taken.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use crate::pulse::PAUSE;

/// Messages that wait at most. No honest process has so many answers to take; one that takes none is sent no
/// more.
const MOST_WAITING: usize = 256;

/// Messages of one connection. One that fails is sent again while the connection is there.
#[derive(Debug, Clone, Default)]
pub struct Lane {
    waiting: VecDeque<Bytes>,
    under_way: Option<u64>,
    not_before: Duration,
}

impl Lane {
    /// Adds a message, unless it waits there already. Whether it waits there now.
    pub fn push(&mut self, data: Bytes) -> bool {
        let begun = usize::from(self.under_way.is_some());
        let is_there = self.waiting.iter().skip(begun).any(|other| *other == data);
        let has_room = self.waiting.len() < MOST_WAITING;
        if !is_there && has_room {
            self.waiting.push_back(data);
        }
        is_there || has_room
    }

    /// Forgets what has not left yet.
    pub fn clear_waiting(&mut self) {
        self.waiting.truncate(usize::from(self.under_way.is_some()));
    }

    /// What leaves now, if anything does; it is called `id`.
    pub fn next(&mut self, id: u64, now: Duration) -> Option<Bytes> {
        if self.under_way.is_some() || now < self.not_before {
            return None;
        }
        let data = self.waiting.front()?.clone();
        self.under_way = Some(id);
        Some(data)
    }

    /// A message of that number has ended; whether it was one of these.
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

    /// When something may leave that waits for time.
    pub fn wake_at(&self) -> Option<Duration> {
        (self.under_way.is_none() && !self.waiting.is_empty()).then_some(self.not_before)
    }

    /// Whether all was taken.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_in_order_and_again_what_failed() {
        let (mut lane, now) = (Lane::default(), Duration::ZERO);
        lane.push(Bytes::from_static(b"a"));
        lane.push(Bytes::from_static(b"b"));
        lane.push(Bytes::from_static(b"b"));
        assert_eq!(lane.next(1, now).as_deref(), Some(&b"a"[..]));
        assert_eq!(lane.next(2, now), None, "the first one is under way");
        // It may have arrived: the same once more is another message.
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
}
