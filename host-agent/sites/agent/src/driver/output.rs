//! What a driver has its owner do.

use bytes::Bytes;
use inart_protocol_sites::SiteNo;

use super::error::DriverError;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Peer {
    /// A site.
    Site(SiteNo),
    /// The scheduler.
    Scheduler,
}

/// What the owner has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this, and say whether it was delivered.
    Send {
        /// To whom.
        to: Peer,
        /// Its number, never used again.
        id: u64,
        /// The message.
        data: Bytes,
        /// What has more goes first on a connection.
        priority: i32,
    },
    /// The training program may compute the gradient of a round.
    Ready {
        /// Which.
        round: u32,
        /// What it has to load first: this site has restarted.
        training: Option<Bytes>,
    },
    /// The sum of a chunk of a round that was [begun](super::Driver::begin) without a gradient.
    Summed {
        /// Which round.
        round: u32,
        /// Which chunk.
        chunk: usize,
        /// Its values.
        values: Vec<f32>,
    },
    /// The sum of a round.
    Reduced {
        /// Which.
        round: u32,
        /// One value per parameter.
        sum: Vec<f32>,
    },
    /// The training was over when this site came back.
    Ended {
        /// How the training program's state was in the end.
        training: Bytes,
    },
    /// A site that has restarted wants the training program's state before this round.
    StateWanted {
        /// Which.
        round: u32,
    },
    /// A line for the log: something was refused.
    Warned(String),
    /// This site cannot go on.
    Failed(DriverError),
}
