//! Sends frames in batches: one system call for many frames.

use std::io;

use crate::messages::Messages;
use crate::{BATCH, PacketSocket};

/// Frames that wait to be sent through one socket.
#[derive(Default)]
pub struct Queue {
    /// The frames, one after the other. It only grows, so that nothing is cleared where a frame is written.
    bytes: Vec<u8>,
    /// Start and length of all frames since the queue was empty.
    lengths: Vec<usize>,
    /// Place of the next frame.
    end: usize,
    /// The first queued frame, and its start.
    next: usize,
    start: usize,
    messages: Option<Messages>,
}

/// Counters of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// Taken by the interface.
    pub frames: u64,
    /// The bytes of these.
    pub bytes: u64,
    /// Refused: a full queue, an interface that is down, a frame that is too long.
    pub refused: u64,
}

impl Queue {
    /// Adds a frame at the end.
    pub fn push(&mut self, frame: &[u8]) {
        self.write(frame.len(), |room| {
            room.copy_from_slice(frame);
            Some(frame.len())
        });
    }

    /// Queues a frame: `fill` writes it to the front of `room` bytes, which have arbitrary contents, and
    /// returns its length; no frame if it returns `None`. Returns whether there was a frame.
    ///
    /// # Panics
    /// If `fill` returns more than `room`.
    pub fn write(&mut self, room: usize, fill: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        let most = self.end + room;
        if self.bytes.len() < most {
            self.bytes.resize(most, 0);
        }
        let Some(length) = fill(&mut self.bytes[self.end..most]) else { return false };
        assert!(length <= room, "a frame of {length} bytes in room for {room}");
        self.lengths.push(length);
        self.end += length;
        true
    }

    /// Frames that wait.
    pub fn len(&self) -> usize {
        self.lengths.len() - self.next
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends as many frames as one system call takes. Returns the number of frames, which leave the queue.
    ///
    /// # Errors
    /// Returns why the first was refused; all frames stay queued.
    pub fn send(&mut self, socket: &PacketSocket) -> io::Result<usize> {
        if self.is_empty() {
            return Ok(0);
        }
        let messages = self.messages.get_or_insert_with(|| Messages::allocate(BATCH));
        let (bytes, lengths) = (&mut self.bytes[self.start..self.end], &self.lengths[self.next..]);
        let sent = messages.send(socket, bytes, lengths)?;
        self.drop_first(sent);
        Ok(sent)
    }

    /// Forgets the first `count` frames that wait, or all if there are fewer.
    pub fn drop_first(&mut self, count: usize) {
        let count = count.min(self.len());
        self.start += self.lengths[self.next..][..count].iter().sum::<usize>();
        self.next += count;
        if self.is_empty() {
            self.lengths.clear();
            (self.end, self.next, self.start) = (0, 0, 0);
        }
    }

    /// Sends everything. A frame the kernel refuses is dropped and counted; the others go on.
    pub fn flush(&mut self, socket: &PacketSocket) -> Sent {
        let mut sent = Sent::default();
        while !self.is_empty() {
            let waiting = self.end - self.start;
            match self.send(socket) {
                Ok(count) if count > 0 => {
                    sent.frames += count as u64;
                    sent.bytes += (waiting - (self.end - self.start)) as u64;
                }
                _ => {
                    sent.refused += 1;
                    self.drop_first(1);
                }
            }
        }
        sent
    }
}
