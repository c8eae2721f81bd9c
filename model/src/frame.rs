//! What is on its way.

use crate::sum::Sum;

/// Ranks as a bitmap.
pub type Ranks = u8;

/// That worker alone.
pub fn one(worker: u8) -> Ranks {
    1 << worker
}

/// The ranks in a bitmap, ascending.
pub fn ranks(bitmap: Ranks) -> impl Iterator<Item = u8> {
    (0..8).filter(move |worker| bitmap >> worker & 1 == 1)
}

/// A gradient or a partial. The flags last and congestion, which decide nothing here, are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contribution {
    /// Kind 2; else kind 1.
    pub partial: bool,
    /// Of the epoch before, whose tables are still there.
    pub old_epoch: bool,
    /// The chunk.
    pub sequence: u8,
    /// Rank of the sender, or of the worker whose frame completed the partial.
    pub worker: u8,
    /// Who is in it.
    pub contributors: Ranks,
    /// Steps above the agreed exponent.
    pub exponent: u8,
    /// Sent before; of a partial: made to leave by such a frame.
    pub resend: bool,
    /// No switch may add it.
    pub bypass: bool,
    /// Some sum saturated, or the sender's values do not fit the agreed exponent.
    pub overflow: bool,
    /// The values.
    pub sum: Sum,
}

/// A host of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// The worker of that rank.
    Worker(u8),
    /// The parameter server.
    Server,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frame {
    /// Kind 1 or 2: to the server.
    Contribution(Contribution),
    /// Kind 3: to the workers.
    Result {
        /// The chunk.
        sequence: u8,
        /// Steps above the agreed exponent.
        exponent: u8,
        /// The values.
        sum: Sum,
    },
    /// Request-bypass: server to worker.
    Request {
        /// The chunk.
        sequence: u8,
        /// Steps above the agreed exponent that it is wanted at.
        exponent: u8,
    },
    /// Abort: server to worker.
    Abort {
        /// Whose fault it is.
        culprit: Peer,
    },
}

/// Where a frame arrives next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// The switch of that number.
    Switch(u8),
    /// The parameter server.
    Server,
    /// The worker of that rank.
    Worker(u8),
    /// Every worker: a multicast, of which each copy has its own fate.
    Workers,
}

impl Contribution {
    /// A gradient of the epoch before.
    pub fn of_old_epoch(worker: u8, sequence: u8) -> Self {
        Self {
            partial: false,
            old_epoch: true,
            sequence,
            worker,
            contributors: one(worker),
            exponent: 0,
            resend: false,
            bypass: false,
            overflow: false,
            sum: Sum::term(true, 0, sequence, worker),
        }
    }
}
