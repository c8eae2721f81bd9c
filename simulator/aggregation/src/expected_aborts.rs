//! Hosts that may cause an abort, given the faults of a run.

use std::collections::BTreeSet;

use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;

/// Hosts that may be the cause of an aborted job.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedAborts {
    /// Names of hosts that are killed.
    gone: BTreeSet<String>,
    /// Whether something is disconnected or paused for as long as the peer timeout: any host may be the
    /// cause.
    cut_off: bool,
}

impl ExpectedAborts {
    /// Returns the expected causes of `faults`; `peer_timeout` is the hosts' timeout.
    pub fn of(faults: &Faults, peer_timeout: Span) -> Self {
        let is_long = |lasts: Span| lasts.0 >= peer_timeout.0 / 2;
        Self {
            gone: faults.events.iter().filter_map(|event| event.crash.clone()).collect(),
            cut_off: faults
                .events
                .iter()
                .any(|event| event.crash.is_none() && event.lasts.is_some_and(is_long)),
        }
    }

    /// Returns whether a job may be aborted because of this host.
    pub fn covers(&self, host: &str) -> bool {
        self.cut_off || self.gone.contains(host)
    }

    /// Returns whether a job may be aborted because of some host.
    pub fn any(&self) -> bool {
        self.cut_off || !self.gone.is_empty()
    }
}
