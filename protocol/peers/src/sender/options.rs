//! How a sender sends, and when it gives up.

use std::time::Duration;

use crate::pacer::time_of;

/// What makes the copies of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Copies {
    /// Switches: a chunk leaves once for all its receivers in one block of 64, in frames of so many bytes, at
    /// the task's rate.
    Switch {
        /// Bytes of a frame, Ethernet header included.
        frame_bytes: usize,
    },
    /// The sender: a chunk leaves once per receiver, on a connection that loses nothing while it is up, at
    /// the task's rate to each of them.
    Sender {
        /// Chunks per receiver that are under way at most; at least 1.
        window: usize,
        /// Bytes of a chunk's values.
        chunk_bytes: usize,
    },
}

/// A sender's options.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SenderOptions {
    /// What makes the copies.
    pub copies: Copies,
    /// A receiver that has been sent everything is asked what it lacks after that time; then after twice that
    /// time, up to eight times. A few round-trip times.
    pub poll: Duration,
    /// A receiver that has been sent everything and of which nothing is heard for that time is given up.
    pub patience: Duration,
    /// A receiver that lacks something that long after the multicast began is given up. `None`: as long as it
    /// is heard of, it is waited for.
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

    /// How long a chunk takes to one receiver at a rate in bit/s, where the sender makes the copies.
    pub(super) fn time_of_copy(&self, rate_bps: f64) -> Duration {
        match self.copies {
            Copies::Switch { .. } => Duration::ZERO,
            Copies::Sender { chunk_bytes, .. } => time_of(chunk_bytes, rate_bps),
        }
    }

    /// Chunks that may be under way to one receiver.
    pub(super) fn window(&self) -> usize {
        match self.copies {
            Copies::Switch { .. } => usize::MAX,
            Copies::Sender { window, .. } => window.max(1),
        }
    }
}
