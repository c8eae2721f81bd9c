//! Telling the servers that the job is aborted.

use alloc::vec::Vec;
use core::time::Duration;

use inart_wire::{AbortReason, ControlMessage, Rank};

use crate::Instant;

/// Tells every server that the job is aborted, until the server says so itself or was told often enough.
#[derive(Clone, Debug)]
pub(super) struct Abort {
    pub message: ControlMessage,
    /// How often each server is still told, and when next.
    servers: Vec<(u32, Instant)>,
}

impl Abort {
    const TRIES: u32 = 10;
    const INTERVAL: Duration = Duration::from_millis(50);

    pub(super) fn new(now: Instant, reason: AbortReason, culprit: Rank, servers: usize) -> Self {
        let message = ControlMessage::Abort { reason, culprit };
        Self { message, servers: alloc::vec![(Self::TRIES, now); servers] }
    }

    pub(super) fn is_done(&self) -> bool {
        self.servers.iter().all(|(tries, _)| *tries == 0)
    }

    pub(super) fn acknowledge(&mut self, shard: usize) {
        self.servers[shard].0 = 0;
    }

    /// Tells that shard's server again, at once.
    pub(super) fn repeat(&mut self, now: Instant, shard: usize) {
        self.servers[shard].1 = now;
    }

    /// The shard whose server is to be told now.
    pub(super) fn poll(&mut self, now: Instant) -> Option<usize> {
        let shard = self.servers.iter().position(|(tries, at)| *tries > 0 && *at <= now)?;
        let (tries, at) = &mut self.servers[shard];
        *tries -= 1;
        *at = now + Self::INTERVAL;
        Some(shard)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.servers.iter().filter(|(tries, _)| *tries > 0).map(|(_, at)| *at).min()
    }
}
