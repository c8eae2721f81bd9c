//! Timing of a sender, and its timeouts.

use std::time::Duration;

use crate::pacer::time_of;

/// Maker of a chunk's copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Copies {
    /// Switches: a chunk leaves once for all its receivers in one block of 64, as a frame, at the task's
    /// rate.
    Switch {
        /// Bytes of a frame, Ethernet header included.
        frame_bytes: usize,
    },
    /// The sender: a chunk leaves once per receiver, on a connection that loses nothing while it is up, at
    /// the task's rate to each of them.
    Sender {
        /// Most chunks in flight per receiver; at least 1.
        window: usize,
        /// Bytes of a chunk's values.
        chunk_bytes: usize,
    },
}

/// Options of a sender.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SenderOptions {
    /// Maker of the copies.
    pub copies: Copies,
    /// Time after which a receiver that was sent all chunks is polled; then twice that time, up to eight
    /// times. A few round-trip times.
    pub poll: Duration,
    /// Time without a message after which a receiver that was sent all chunks times out.
    pub patience: Duration,
    /// Time after the start of the multicast after which an incomplete receiver is abandoned. `None`: the
    /// sender waits as long as the receiver sends messages.
    pub limit: Option<Duration>,
}

impl SenderOptions {
    /// Polls after 20 ms, patience of 2.5 s, no limit.
    pub fn new(copies: Copies) -> Self {
        SenderOptions {
            copies,
            poll: Duration::from_millis(20),
            patience: Duration::from_millis(2500),
            limit: None,
        }
    }

    /// Returns how long a chunk takes to one receiver at a rate in bit/s, where the sender makes the copies.
    pub(super) fn time_of_copy(&self, rate_bps: f64) -> Duration {
        match self.copies {
            Copies::Switch { .. } => Duration::ZERO,
            Copies::Sender { chunk_bytes, .. } => time_of(chunk_bytes, rate_bps),
        }
    }

    /// Returns the most chunks in flight to one receiver.
    pub(super) fn window(&self) -> usize {
        match self.copies {
            Copies::Switch { .. } => usize::MAX,
            Copies::Sender { window, .. } => window.max(1),
        }
    }
}
