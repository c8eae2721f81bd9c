//! A worker's knowledge of a shard's server: its incarnation, and whether the server has bound this worker.

use inart_wire::{ChunkSeq, Incarnation};

use crate::Instant;

/// Knowledge of the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    /// Names the server's incarnation, and the run; unknown before the first answer.
    pub run: Incarnation,
    /// Whether the server has bound this incarnation of the worker to the run.
    pub bound: bool,
    /// Number of the last keep-alive to the server, and its time.
    pub keepalive: (ChunkSeq, Instant),
    /// End of the interval since a keep-alive was last due.
    pub next_at: Instant,
    /// Keep-alives since the last progress with the server: since the start, or since its first answer.
    pub tries: u32,
}

impl Session {
    /// Handles a frame of a server of that run; its run counts if none was known before.
    pub(super) fn meet(&mut self, run: Incarnation) -> Meeting {
        match self.run {
            Incarnation::UNKNOWN => {
                (self.run, self.tries) = (run, 0);
                Meeting::First
            }
            known if known == run => Meeting::Again,
            _ => Meeting::OtherIncarnation,
        }
    }

    /// Returns the number of the next keep-alive, which counts as sent.
    pub(super) fn next_keepalive(&mut self, now: Instant) -> ChunkSeq {
        let number = self.keepalive.0.advance(1);
        self.keepalive = (number, now);
        self.tries = self.tries.saturating_add(1);
        number
    }
}

/// Relation of a frame's server to the known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// First known server.
    First,
    /// The one that is known.
    Again,
    /// Another incarnation of it.
    OtherIncarnation,
}
