//! Links that carry messages.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{PeerNo, Seen};

use crate::later::Later;

/// A message between two processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// The sender.
    pub from: PeerNo,
    /// The receiver.
    pub to: PeerNo,
    /// The connection's number. No two connections share one.
    pub connection: u64,
    /// The sender's number of the message.
    pub id: u64,
    /// The message.
    pub data: Bytes,
    /// A transfer of higher priority leaves first.
    pub priority: i32,
}

/// An event on links.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkEvent {
    /// A transfer is at its receiver.
    Arrived {
        /// The transfer.
        transfer: Transfer,
        /// Bits of the transfer, and the time from the first bit's leaving to the last bit's; `None` if the
        /// receiver measures nothing.
        seen: Option<Seen>,
    },
    /// A frame that switches have copied is at a receiver.
    Frame {
        /// The receiver.
        to: PeerNo,
        /// The frame.
        frame: Bytes,
    },
    /// A sender learns the end of its message.
    Ended {
        /// The sender.
        sender: PeerNo,
        /// The receiver.
        receiver: PeerNo,
        /// The connection's number.
        connection: u64,
        /// The message's number.
        id: u64,
        /// Whether the receiver took the message; else that is not known.
        is_taken: bool,
    },
}

/// Links between processes, in virtual time.
///
/// Events whose time is known go into `later`, each after a time, and come back by [`due`](Self::due). They
/// share the world's timeline with wakes and faults, so events of one time happen in the order given. Links
/// whose next event depends on rates, such as fluid ones, have [`next_at`](Self::next_at) and
/// [`next`](Self::next).
pub trait Links {
    /// A change of the links, such as another rate.
    type Change;
    /// An event on the links that comes at a known time.
    type Event;

    /// Takes a transfer that leaves now.
    fn send(&mut self, transfer: Transfer, now: Duration, later: &mut Later<Self::Event>);

    /// Whether messages between two processes count as taken when they leave: no answer follows.
    fn is_sure(&self, from: PeerNo, to: PeerNo) -> bool {
        let _ = (from, to);
        false
    }

    /// Takes a frame that switches copy. Links without such switches lose the frame.
    fn copy(&mut self, from: PeerNo, frame: Bytes, now: Duration, later: &mut Later<Self::Event>) {
        let _ = (from, frame, now, later);
    }

    /// A transfer was taken by its receiver now: the answer begins its way back.
    fn answer(&mut self, transfer: &Transfer, now: Duration, later: &mut Later<Self::Event>);

    /// An event that the links have put into `later` is due.
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

    /// Forgets what is under way on a connection that has ended.
    fn clear(&mut self, connection: u64, now: Duration);

    /// Whether nothing passes between two processes.
    fn is_cut(&self, a: PeerNo, b: PeerNo) -> bool;

    /// Changes the links.
    fn change(&mut self, change: &Self::Change, now: Duration);
}
