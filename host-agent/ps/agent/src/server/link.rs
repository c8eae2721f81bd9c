//! A server's state of a worker's process.

use std::time::Duration;

use inart_connections::Lane;

use crate::incoming::Incoming;
use crate::outgoing::Outgoing;

/// A permission in use.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    pub number: u64,
    pub iteration: u64,
}

/// A server's state of a worker's process.
#[derive(Debug, Clone, Default)]
pub struct Link {
    pub is_up: bool,
    /// Time at which the worker counts as absent, if its connection has ended and it has not reconnected by
    /// then.
    pub absent_at: Option<Duration>,
    pub incarnation: Option<u32>,
    /// Number of the last hello of this incarnation.
    pub hellos: u64,
    pub lane: Lane,
    pub ticket: Option<Ticket>,
    /// Last pull of the ticket.
    pub attempt: u32,
    /// Version that was pulled last.
    pub base: u64,
    /// Ticket whose update arrived last.
    pub arrived: Option<u64>,
    /// Time of the last pull.
    pub pulled_at: Option<Duration>,
    pub incoming: Option<Incoming>,
    pub outgoing: Option<Outgoing>,
    /// Whether the worker has sent its hello on this connection, and whether the end was sent since.
    pub is_met: bool,
    pub is_notified: bool,
}

impl Link {
    /// Voids the worker's activity.
    pub fn forget(&mut self) {
        (self.ticket, self.attempt, self.incoming, self.outgoing) = (None, 0, None, None);
    }
}
