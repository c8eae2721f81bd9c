//! When a receiver asks.

use std::time::Duration;

use crate::message::Message;

/// A receiver's options.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReceiverOptions {
    /// When the last chunk of an update is here, or the last one that was asked for, and some are missing, it
    /// asks after that time: they may have overtaken others.
    pub reorder: Duration,
    /// It asks when nothing of an update has arrived for that time; then after twice that time, up to 32
    /// times. `None`: not on its own account, since chunks come on connections that lose none.
    pub quiet: Option<Duration>,
    /// Messages in which it asks at once, at most.
    pub asks_at_once: usize,
    /// Ranges of missing chunks in a message, at most.
    pub ranges_per_ask: usize,
}

impl ReceiverOptions {
    /// For chunks in frames of so many values: asks a millisecond after the last chunk, 50 ms after any
    /// other, in four messages at once.
    pub fn frames(values_per_frame: usize) -> Self {
        ReceiverOptions {
            reorder: Duration::from_millis(1),
            quiet: Some(Duration::from_millis(50)),
            asks_at_once: 4,
            ranges_per_ask: Message::ranges_within(values_per_frame).max(1),
        }
    }

    /// For chunks in messages on connections.
    pub fn connections() -> Self {
        ReceiverOptions {
            reorder: Duration::from_secs(1),
            quiet: None,
            asks_at_once: 1,
            ranges_per_ask: 4096,
        }
    }
}
