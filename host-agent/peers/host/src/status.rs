//! Status of a peer's process.

use std::collections::BTreeSet;
use std::time::Duration;

use inart_host_agent::status::{ProcessStatus, ProcessWait};
use inart_peer_agent::{Awaited, Peer};
use inart_quic::Endpoint;
use inart_wire::Rank;

use crate::names::Names;

/// Name of a process, and its connections to others.
pub(crate) struct Connected<'a> {
    pub me: &'a str,
    pub names: &'a Names,
    pub endpoint: &'a Endpoint,
    /// Peers with a connection; `None` if peers send frames.
    pub peers: Option<&'a BTreeSet<Rank>>,
}

impl Connected<'_> {
    /// Returns what a peer does. `unchanged`: for how long it has waited for the same others, or for none.
    pub fn status(&self, peer: &Peer, unchanged: Duration) -> ProcessStatus {
        let seconds = unchanged.as_secs_f64();
        let awaited = peer.awaited();
        let computes = awaited.is_none() && !peer.is_done();
        let each = |peers: Vec<Rank>, lacks: String| {
            peers.into_iter().map(move |rank| {
                let disconnected = self.peers.is_some_and(|connected| !connected.contains(&rank));
                self.wait(self.names.of(rank), disconnected, &lacks, seconds)
            })
        };
        let waits = match awaited {
            Some(Awaited::Coordinator { is_connected }) => {
                let lacks = "the coordinator gathers peers";
                let wait = |name| self.wait(name, !is_connected, lacks, seconds);
                self.names.coordinators().map(wait).collect()
            }
            Some(Awaited::Round { round, peers }) => {
                each(peers, format!("round {round} has not ended there")).collect()
            }
            Some(Awaited::Receivers { round, peers }) => {
                each(peers, format!("the update of round {round} has not arrived there")).collect()
            }
            None => Vec::new(),
        };
        ProcessStatus {
            name: self.me.to_owned(),
            role: "peer".to_owned(),
            progress: peer.round().into(),
            waits,
            computing_seconds: computes.then_some(seconds),
            inside: Vec::new(),
        }
    }

    fn wait(&self, on: &str, disconnected: bool, lacks: &str, seconds: f64) -> ProcessWait {
        let why = match disconnected {
            true => self.endpoint.why_not(on),
            false => lacks.to_owned(),
        };
        ProcessWait { on: on.to_owned(), why, seconds, disconnected }
    }
}
