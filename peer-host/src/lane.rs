//! Messages to a coordinator or from it, in their order: the next one leaves when the one before was taken.
//! Messages on connections have a stream each, and may overtake each other.

use std::collections::VecDeque;

use bytes::Bytes;

/// The messages to one process, while there is a connection.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    waiting: VecDeque<Bytes>,
    under_way: Option<u64>,
}

impl Lane {
    pub fn push(&mut self, data: Bytes) {
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
}
