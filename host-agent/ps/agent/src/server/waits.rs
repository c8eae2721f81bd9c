//! Parties that a server waits for.

use std::time::Duration;

use inart_protocol_ps::WorkerNo;

use super::ServerAgent;
use super::awaited::Awaited;
use crate::outgoing::Outgoing;
use crate::sequencer::Sequencer;

impl<S: Sequencer> ServerAgent<S> {
    /// Returns the workers that the server waits for, ascending, each with the awaited step. Workers that
    /// wait for the server are not among them.
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

    /// Returns whether the training has not started: workers are gathered.
    pub fn is_gathering(&self) -> bool {
        self.gathering.is_some()
    }

    /// Returns whether no worker is connected.
    pub fn is_alone(&self) -> bool {
        self.links.iter().all(|link| !link.is_up)
    }
}
