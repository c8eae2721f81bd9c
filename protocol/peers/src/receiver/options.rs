//! Timing of a receiver's requests.

use std::time::Duration;

use crate::message::Message;

/// Options of a receiver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReceiverOptions {
    /// Time after the last chunk of an update, or the last requested one, after which missing chunks are
    /// requested: they may have been overtaken.
    pub reorder: Duration,
    /// Time without a chunk of an update after which missing chunks are requested; then twice that time, up
    /// to 32 times. `None`: never, since connections lose no chunks.
    pub quiet: Option<Duration>,
    /// Most messages per request.
    pub asks_at_once: usize,
    /// Most ranges of missing chunks per message.
    pub ranges_per_ask: usize,
}

impl ReceiverOptions {
    /// Returns options for chunks in frames: requests a millisecond after the last chunk, 50 ms after any
    /// other, in up to four messages.
    pub fn frames(values_per_frame: usize) -> Self {
        ReceiverOptions {
            reorder: Duration::from_millis(1),
            quiet: Some(Duration::from_millis(50)),
            asks_at_once: 4,
            ranges_per_ask: Message::ranges_within(values_per_frame).max(1),
        }
    }

    /// Returns options for chunks in messages on connections.
    pub fn connections() -> Self {
        ReceiverOptions {
            reorder: Duration::from_secs(1),
            quiet: None,
            asks_at_once: 1,
            ranges_per_ask: 4096,
        }
    }
}
