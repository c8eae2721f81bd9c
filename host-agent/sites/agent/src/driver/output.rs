//! What a driver has its owner do.

use bytes::Bytes;
use inart_protocol_sites::SiteNo;

use super::error::DriverError;

/// Remote end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Peer {
    /// A site.
    Site(SiteNo),
    /// The scheduler.
    Scheduler,
}

/// Action for the owner of the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Message to send. The owner reports whether it was delivered.
    Send {
        /// Destination.
        to: Peer,
        /// Number of the message, never reused.
        id: u64,
        /// Encoded message.
        data: Bytes,
        /// Priority on the connection; higher values are sent first.
        priority: i32,
    },
    /// Notice that the training program may compute the gradient of a round.
    Ready {
        /// The round.
        round: u32,
        /// State to load first, when this site has restarted.
        training: Option<Bytes>,
    },
    /// Sum of a chunk of a round that was [started](super::Driver::begin) without a gradient.
    Summed {
        /// The round.
        round: u32,
        /// Number of the chunk.
        chunk: usize,
        /// Values of the sum.
        values: Vec<f32>,
    },
    /// Sum of a round.
    Reduced {
        /// The round.
        round: u32,
        /// One value per parameter.
        sum: Vec<f32>,
    },
    /// Notice that the training had ended when this site rejoined.
    Ended {
        /// Final state of the training program.
        training: Bytes,
    },
    /// Request of a restarted site for the training program's state before this round.
    StateWanted {
        /// The round.
        round: u32,
    },
    /// Log line about a refused message.
    Warned(String),
    /// Failure of this site.
    Failed(DriverError),
}
