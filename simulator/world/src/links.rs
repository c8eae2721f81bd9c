//! Links that carry messages.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::PeerNo;

/// A message between two processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Parcel {
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
    /// A parcel of higher priority leaves first.
    pub priority: i32,
}

/// An event on links.
#[derive(Debug, Clone, PartialEq)]
pub enum Happened {
    /// A parcel is at its receiver.
    Arrived {
        /// The parcel.
        parcel: Parcel,
        /// From the first bit's leaving to the last bit's, in seconds.
        seconds: f64,
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
pub trait Links {
    /// A change of the links, such as another rate.
    type Change;

    /// Takes a parcel that leaves now.
    fn send(&mut self, parcel: Parcel, now: Duration);

    /// Takes a frame that switches copy. Links without such switches lose the frame.
    fn copy(&mut self, from: PeerNo, frame: Bytes, now: Duration) {
        let _ = (from, frame, now);
    }

    /// A parcel was taken by its receiver now: the answer begins its way back.
    fn answer(&mut self, parcel: &Parcel, now: Duration);

    /// Returns the time of the next event, if no parcel is added.
    fn next_at(&self) -> Option<Duration>;

    /// Returns the next event at or before `now`.
    fn next(&mut self, now: Duration) -> Option<Happened>;

    /// Forgets what is under way on a connection that has ended.
    fn clear(&mut self, connection: u64, now: Duration);

    /// Whether nothing passes between two processes.
    fn is_cut(&self, a: PeerNo, b: PeerNo) -> bool;

    /// Changes the links.
    fn change(&mut self, change: &Self::Change, now: Duration);
}
