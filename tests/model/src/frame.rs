//! Frames in flight.

use crate::config::Config;
use crate::node::{Node, Ranks, one};
use crate::run::{Generation, Run};
use crate::scale::Exponent;
use crate::sum::{BEFORE, Sum};

/// A gradient or a partial. The flag congestion, which decides nothing here, is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contribution {
    /// Kind 2; else kind 1.
    pub partial: bool,
    /// The run it belongs to.
    pub run: Run,
    /// The chunk.
    pub sequence: u8,
    /// Bitmap index of the sender, or of the worker whose frame completed the partial.
    pub worker: u8,
    /// Contributors, by bitmap index.
    pub contributors: Ranks,
    /// Number format of the values.
    pub exponent: Exponent,
    /// Sent before; of a partial: made to leave by such a frame.
    pub resend: bool,
    /// No switch may add it.
    pub bypass: bool,
    /// The sender's last chunk of the tensor.
    pub last: bool,
    /// Some sum saturated.
    pub overflow: bool,
    /// The values.
    pub sum: Sum,
}

/// Result of the first of two passes: the first half of the values is in its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FirstPass {
    /// Whether the slot was complete there.
    pub complete: bool,
    /// The values that it had then.
    pub sum: Sum,
    /// Whether a value of them was at a limit.
    pub at_limit: bool,
}

/// A host of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// The worker of that rank.
    Worker(u8),
    /// The parameter server.
    Server,
    /// A host of the larger job, which ended that job.
    Elsewhere,
}

impl Peer {
    /// Returns the host's node; the server stands for hosts elsewhere.
    pub(crate) fn node(self) -> Node {
        match self {
            Self::Worker(rank) => Node::Worker(rank),
            Self::Server | Self::Elsewhere => Node::Server,
        }
    }
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frame {
    /// Kind 1 or 2: to the server.
    Contribution(Contribution),
    /// Kind 1 or 2 between its two passes of a switch of Tofino.
    Halfway(Contribution, FirstPass),
    /// Kind 3: to the workers.
    Result {
        /// The run it belongs to.
        run: Run,
        /// The chunk.
        sequence: u8,
        /// The values.
        sum: Sum,
        /// Whether the frame says that later chunks belong to the other plan version.
        other: bool,
    },
    /// Request-bypass: server to worker.
    Request {
        /// Addressed generation of the worker, and the run.
        to: Talk,
        /// The chunk.
        sequence: u8,
    },
    /// Abort: server to worker.
    Abort {
        /// Addressed generation of the worker, and the run.
        to: Talk,
        /// Host at fault.
        culprit: Peer,
    },
    /// Keep-alive: worker to server.
    KeepAlive {
        /// The worker's rank.
        worker: u8,
        /// Generation of the sending worker.
        generation: Generation,
        /// The run it knows of, if any.
        run: Option<Run>,
    },
    /// The answer to a keep-alive: server to worker.
    Answer {
        /// Addressed generation of the worker, and the run.
        to: Talk,
        /// Whether that generation is the one that takes part in the run.
        bound: bool,
    },
}

/// Fields that every message of the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Talk {
    /// Addressed generation of the worker.
    pub generation: Generation,
    /// Run: the generation of the sending server.
    pub run: Run,
}

impl Frame {
    /// Returns the contribution with the lowest rank as the worker whose frame completed a partial.
    pub(crate) fn without_completer(self) -> Self {
        match self {
            Self::Contribution(partial) if partial.partial => {
                let worker = partial.contributors.trailing_zeros() as u8;
                Self::Contribution(Contribution { worker, ..partial })
            }
            frame => frame,
        }
    }
}

impl Contribution {
    /// Creates a gradient of a plan version or a run before.
    pub fn before(run: Run, config: &Config, worker: u8, sequence: u8) -> Self {
        let of_maxima = config.is_of_maxima(sequence);
        let size = config.size(run, sequence, worker);
        let values = config.term(BEFORE, sequence, worker);
        Self {
            partial: false,
            run,
            sequence,
            worker,
            contributors: one(worker),
            exponent: config.exponent(sequence),
            resend: false,
            bypass: config.floats,
            last: config.is_last(0, sequence),
            overflow: false,
            sum: if of_maxima { Sum::of_size(sequence, size) } else { values },
        }
    }
}
