//! Parties that a peer waits for, and the time limit.

use std::time::Duration;

use inart_wire::Rank;

use super::awaited::Awaited;
use super::{Output, Peer, Phase};
use crate::admission_error::AdmissionError;

impl Peer {
    /// Returns the parties that this peer waits for; `None` while its program computes, or after the end.
    pub fn awaited(&self) -> Option<Awaited> {
        match self.phase {
            Phase::Meeting => Some(Awaited::Coordinator { is_connected: self.has_coordinator }),
            Phase::Waiting | Phase::Finished if !self.is_done() => {
                let last = self.gate.last().filter(|&at| at != self.setup.me.index());
                let peers: Vec<_> = last.filter_map(|at| Rank::try_from(at).ok()).collect();
                let round = u32::try_from(self.gate.least()).unwrap_or(u32::MAX).saturating_add(1);
                (!peers.is_empty()).then_some(Awaited::Round { round, peers })
            }
            Phase::Sending => {
                Some(Awaited::Receivers { round: self.round(), peers: self.sender.waited().iter().collect() })
            }
            _ => None,
        }
    }

    /// Ends if others have not ended a round in time: a program may hang while its connections stay open.
    pub(super) fn wait_for_others(&mut self, now: Duration) {
        if self.phase != Phase::Waiting {
            self.waiting_since = None;
            return;
        }
        let least = self.gate.least();
        let since = match self.waiting_since {
            Some((known, since)) if known == least => since,
            _ => {
                self.waiting_since = Some((least, now));
                now
            }
        };
        let waited = now.saturating_sub(since);
        if waited < self.setup.round_patience {
            return;
        }
        if let Some(Awaited::Round { round, peers }) = self.awaited() {
            self.phase = Phase::Outside;
            let rank = self.setup.me;
            // The job's name is at index 0.
            let name = |rank: &Rank| self.setup.names.get(rank.index() + 1).cloned();
            let names = peers.iter().map(|rank| name(rank).unwrap_or_else(|| format!("peer {rank}")));
            let peers = names.collect::<Vec<_>>().join(", ");
            self.outputs.push_back(Output::Rejected(AdmissionError::Others { rank, round, peers, waited }));
        }
    }

    /// Returns when waiting for others ends.
    pub(super) fn others_until(&self) -> Option<Duration> {
        self.waiting_since.map(|(_, since)| since.saturating_add(self.setup.round_patience))
    }
}
