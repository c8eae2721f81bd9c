//! For whom a server waits.

use std::fmt;
use std::time::Duration;

use inart_order::WorkerNo;

use super::ServerAgent;
use crate::outgoing::Outgoing;
use crate::sequencer::Sequencer;

/// What a server waits for of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A connection.
    Connection,
    /// The first message on its connection.
    Hello,
    /// The model to arrive there, for so long.
    Pull(Duration),
    /// Its update, which has been computed for so long.
    Update(Duration),
    /// The rest of its update, for so long since it was to compute.
    Push(Duration),
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Connection => write!(f, "is not connected"),
            Awaited::Hello => write!(f, "is connected and has sent nothing"),
            Awaited::Pull(for_) => write!(f, "has been receiving the model for {} s", for_.as_secs()),
            Awaited::Update(for_) => write!(f, "has been computing for {} s", for_.as_secs()),
            Awaited::Push(for_) => {
                write!(f, "has computed, and part of its update is missing after {} s", for_.as_secs())
            }
        }
    }
}

impl<S: Sequencer> ServerAgent<S> {
    /// The workers that the server waits for, ascending, and what for. Those that wait for the server are not
    /// among them.
    pub fn awaited(&self, now: Duration) -> Vec<(WorkerNo, Awaited)> {
        let of = |worker: WorkerNo| {
            let link = &self.links[worker.index()];
            let since = link.pulled_at.unwrap_or(now);
            let waited = now.saturating_sub(since);
            Some((
                worker,
                match link {
                    _ if self.sequencer.is_left_out(worker) => return None,
                    link if !link.is_up => Awaited::Connection,
                    link if !link.is_met => Awaited::Hello,
                    link if link.incoming.is_some() => Awaited::Push(waited),
                    link if link.outgoing.as_ref().is_some_and(|outgoing: &Outgoing| !outgoing.is_done()) => {
                        Awaited::Pull(waited)
                    }
                    link if link.ticket.is_some() => Awaited::Update(waited),
                    _ => return None,
                },
            ))
        };
        self.workers().filter_map(of).collect()
    }

    /// Whether the training has not begun: workers are gathered.
    pub fn is_gathering(&self) -> bool {
        self.gathering.is_some()
    }

    /// Whether no worker is connected.
    pub fn is_alone(&self) -> bool {
        self.links.iter().all(|link| !link.is_up)
    }
}
