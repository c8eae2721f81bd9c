//! A process without its network.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

/// Number of another process. Names exist in certificates, settings and logs only; the connection on which a
/// message arrives identifies its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerNo(pub u32);

impl PeerNo {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Sample of the link from another process: passively measured when a message arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Bits that arrived.
    pub bits: f64,
    /// Seconds from the first bit to the last.
    pub seconds: f64,
}

/// State machine of a process: it decides about every message. A host connects it to a network, a simulator
/// to links in virtual time.
///
/// Time is an argument: the time since a start that is the same for all calls.
pub trait Machine {
    /// Order of the process's program, such as a computed update.
    type Command;
    /// Report to the process's program.
    type Report;
    /// Result of [work](Output::Work).
    type Done: Send + 'static;

    /// Takes note of a new connection to another process. The previous one has ended.
    fn up(&mut self, peer: PeerNo, now: Duration);

    /// Takes note that the connection to another process has ended. Messages in flight may have arrived.
    fn down(&mut self, peer: PeerNo, now: Duration);

    /// Takes note that another process has closed its connection and ended.
    fn left(&mut self, peer: PeerNo, now: Duration) {
        self.down(peer, now);
    }

    /// Takes a message of another process, on its connection.
    fn received(&mut self, from: PeerNo, data: &Bytes, seen: Option<Seen>, now: Duration);

    /// Takes an Ethernet frame. Only machines that send [copies](Output::Copy) receive any.
    fn frame(&mut self, bytes: &[u8], now: Duration) {
        let _ = (bytes, now);
    }

    /// Takes note of the end of a message: the other process has it, or its outcome is unknown.
    fn ended(&mut self, id: u64, is_taken: bool, now: Duration);

    /// Takes an order of the program.
    fn command(&mut self, command: Self::Command, now: Duration);

    /// Takes the result of work.
    fn done(&mut self, done: Self::Done, now: Duration) {
        let _ = (done, now);
    }

    /// Takes note that the program has ended and sends no more orders.
    fn abandoned(&mut self, now: Duration) {
        self.stop("", now);
    }

    /// Ends early. `why`: for other processes that must know.
    fn stop(&mut self, why: &str, now: Duration);

    /// Advances the time.
    fn tick(&mut self, now: Duration);

    /// Returns when [`tick`](Self::tick) or [`next`](Self::next) is due; `None` if nothing waits for time.
    fn wake_at(&self) -> Option<Duration>;

    /// Returns the next output; `None` until another call changes something or time passes.
    fn next(&mut self, now: Duration) -> Option<Output<Self::Report, Self::Done>>;

    /// Returns whether another process may end without a fault.
    fn may_end(&self, peer: PeerNo) -> bool;
}

/// Order of a machine to its host.
#[derive(Debug)]
pub enum Output<N, D = ()> {
    /// Sends a message; [`ended`](Machine::ended) must follow.
    Send {
        /// Receiver.
        to: PeerNo,
        /// Number of the message, unique at this machine.
        id: u64,
        /// Message.
        data: Bytes,
        /// Priority: on one connection, higher ones leave first.
        priority: i32,
    },
    /// Sends an Ethernet frame that switches copy to its receivers. It may be lost.
    Copy(Bytes),
    /// Computes on a thread of its own; [`done`](Machine::done) must follow.
    Work(Work<D>),
    /// Reports to the program.
    Report(N),
    /// Ends the process.
    Over,
}

impl<N, D> Output<N, D> {
    /// Returns the report of an [`Output::Report`].
    pub fn report(self) -> Option<N> {
        match self {
            Output::Report(report) => Some(report),
            _ => None,
        }
    }
}

/// Computation that takes long, or that must wait for a disk.
pub struct Work<D>(Box<dyn FnOnce() -> D + Send>);

impl<D> Work<D> {
    /// Creates work from a function.
    pub fn new(work: impl FnOnce() -> D + Send + 'static) -> Self {
        Work(Box::new(work))
    }

    /// Computes.
    pub fn run(self) -> D {
        (self.0)()
    }
}

impl<D> fmt::Debug for Work<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}
