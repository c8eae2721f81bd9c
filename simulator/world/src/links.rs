//! Links that carry messages.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{PeerNo, Seen};

use crate::later::Later;

/// A message between two processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// Sender.
    pub from: PeerNo,
    /// Receiver.
    pub to: PeerNo,
    /// Number of the connection. No two connections share one.
    pub connection: u64,
    /// Sender's number of the message.
    pub id: u64,
    /// Message.
    pub data: Bytes,
    /// A transfer of higher priority leaves first.
    pub priority: i32,
}

/// An event on links.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkEvent {
    /// A transfer has arrived.
    Arrived {
        /// The transfer.
        transfer: Transfer,
        /// Bits of the transfer, and the time from the first bit's leaving to the last bit's; `None` if the
        /// receiver measures nothing.
        seen: Option<Seen>,
    },
    /// A frame that switches have copied has arrived.
    Frame {
        /// Receiver.
        to: PeerNo,
        /// Frame.
        frame: Bytes,
    },
    /// A sender learns the end of its message.
    Ended {
        /// Sender.
        sender: PeerNo,
        /// Receiver.
        receiver: PeerNo,
        /// Number of the connection.
        connection: u64,
        /// Number of the message.
        id: u64,
        /// Whether the receiver took the message; otherwise the outcome is unknown.
        is_taken: bool,
    },
}

/// Links between processes, in virtual time.
///
/// Events whose time is known are put into `later`, each after a time, and are returned by
/// [`due`](Self::due). They share the world's timeline with wakes and faults, so events of one time occur in
/// the order given. Links whose next event depends on rates, such as fluid ones, have
/// [`next_at`](Self::next_at) and [`next`](Self::next).
pub trait Links {
    /// Change of the links, such as another rate.
    type Change;
    /// Event on the links at a known time.
    type Event;

    /// Takes a transfer that leaves now.
    fn send(&mut self, transfer: Transfer, now: Duration, later: &mut Later<Self::Event>);

    /// Returns whether messages between two processes count as taken when they leave, without an answer.
    fn is_sure(&self, from: PeerNo, to: PeerNo) -> bool {
        let _ = (from, to);
        false
    }

    /// Takes a frame that switches copy. Links without such switches lose the frame.
    fn copy(&mut self, from: PeerNo, frame: Bytes, now: Duration, later: &mut Later<Self::Event>) {
        let _ = (from, frame, now, later);
    }

    /// Takes note that a receiver has taken a transfer: the answer leaves now.
    fn answer(&mut self, transfer: &Transfer, now: Duration, later: &mut Later<Self::Event>);

    /// Handles an event that the links have put into `later` and that is due.
    fn due(&mut self, event: Self::Event, now: Duration, later: &mut Later<Self::Event>)
    -> Option<LinkEvent>;

    /// Returns the time of the next event that is not in the world's timeline, if no transfer is added.
    fn next_at(&self) -> Option<Duration> {
        None
    }

    /// Returns the next such event at or before `now`.
    fn next(&mut self, now: Duration, later: &mut Later<Self::Event>) -> Option<LinkEvent> {
        let _ = (now, later);
        None
    }

    /// Drops transfers in flight on an ended connection.
    fn clear(&mut self, connection: u64, now: Duration);

    /// Returns whether nothing passes between two processes.
    fn is_cut(&self, a: PeerNo, b: PeerNo) -> bool;

    /// Changes the links.
    fn change(&mut self, change: &Self::Change, now: Duration);
}
