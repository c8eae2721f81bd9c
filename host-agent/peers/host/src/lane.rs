//! Messages to a coordinator or from it, in their order: the next one leaves when the one before was taken.
//! Messages on connections have a stream each, and may overtake each other.

use std::collections::VecDeque;

use bytes::Bytes;

/// Messages that wait at most. A process that takes none is sent the newest ones once it does.
const MOST_WAITING: usize = 1024;

/// The messages to one process, while there is a connection.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    waiting: VecDeque<Bytes>,
    under_way: Option<u64>,
}

impl Lane {
    /// Adds a message. The oldest one that waits is dropped if there are too many.
    pub fn push(&mut self, data: Bytes) {
        if self.waiting.len() >= MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(data);
    }

    /// What leaves now, if anything does; it is called `id`.
    pub fn next(&mut self, id: u64) -> Option<Bytes> {
        if self.under_way.is_some() {
            return None;
        }
        let data = self.waiting.pop_front()?;
        self.under_way = Some(id);
        Some(data)
    }

    /// The message of that number has ended, taken or not. One that was not is not sent again: its
    /// connection has ended, and the next one begins with a lane of its own.
    pub fn ended(&mut self, id: u64) {
        if self.under_way == Some(id) {
            self.under_way = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_at_a_time_in_their_order() {
        let mut lane = Lane::default();
        assert_eq!(lane.next(1), None);
        lane.push(Bytes::from_static(b"a"));
        lane.push(Bytes::from_static(b"b"));
        assert_eq!(lane.next(1).as_deref(), Some(&b"a"[..]));
        assert_eq!(lane.next(2), None, "the first one is under way");
        lane.ended(7);
        assert_eq!(lane.next(2), None, "another one has ended");
        lane.ended(1);
        assert_eq!(lane.next(2).as_deref(), Some(&b"b"[..]));
        lane.ended(2);
        assert_eq!(lane.next(3), None);
    }

    #[test]
    fn who_takes_nothing_is_sent_the_newest_ones_later() {
        let mut lane = Lane::default();
        (0..5000u32).for_each(|number| lane.push(Bytes::from(number.to_be_bytes().to_vec())));
        let mut sent = Vec::new();
        while let Some(data) = lane.next(1) {
            sent.push(data);
            lane.ended(1);
        }
        assert_eq!((sent.len(), &sent[1023][..]), (1024, &4999u32.to_be_bytes()[..]));
    }
}
