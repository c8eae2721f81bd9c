//! What a server knows of a worker's process.

use std::time::Duration;

use inart_connections::Lane;

use crate::incoming::Incoming;
use crate::outgoing::Outgoing;

/// A permission that was given.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    pub number: u64,
    pub iteration: u64,
}

/// What a server knows of a worker's process.
#[derive(Debug, Clone, Default)]
pub struct Link {
    pub is_up: bool,
    /// When the worker counts as absent, if its connection has ended and no other one is up by then.
    pub absent_at: Option<Duration>,
    pub incarnation: Option<u32>,
    /// The number of the last hello of this incarnation.
    pub hellos: u64,
    pub lane: Lane,
    pub ticket: Option<Ticket>,
    /// The last pull of the ticket.
    pub attempt: u32,
    /// The version that was pulled last.
    pub base: u64,
    /// The ticket whose update arrived last.
    pub arrived: Option<u64>,
    /// When that was.
    pub pulled_at: Option<Duration>,
    pub incoming: Option<Incoming>,
    pub outgoing: Option<Outgoing>,
    /// Whether it has said hello on this connection, and whether it was told of the end since.
    pub is_met: bool,
    pub is_notified: bool,
}

impl Link {
    /// What the worker was doing is void.
    pub fn forget(&mut self) {
        (self.ticket, self.attempt, self.incoming, self.outgoing) = (None, 0, None, None);
    }
}
