//! Status of a peer's process.

use std::time::Duration;

use inart_connections::{Names, PeerNo, Transport};
use inart_host_agent::status::{ProcessStatus, ProcessWait};
use inart_peers_agent::{Awaited, PeerProcess};
use inart_wire::Rank;

/// Names of all processes, and the connections to them.
pub(crate) struct Connected<'a> {
    pub names: &'a Names,
    pub network: &'a Transport,
}

impl Connected<'_> {
    /// Returns a peer's status. `unchanged`: how long it has waited for the same parties, or for none.
    pub fn status(&self, process: &PeerProcess, unchanged: Duration) -> ProcessStatus {
        let (peer, seconds) = (process.peer(), unchanged.as_secs_f64());
        let awaited = peer.awaited();
        let computes = awaited.is_none() && !peer.is_done();
        let each = |peers: Vec<Rank>, lacks: String| {
            peers.into_iter().map(move |rank| {
                let disconnected = process.has_connections() && !process.is_connected(rank);
                self.wait(number(rank), disconnected, &lacks, seconds)
            })
        };
        let waits = match awaited {
            Some(Awaited::Coordinator { is_connected }) => {
                let lacks = "the coordinator gathers peers";
                let wait = |name| self.wait(name, !is_connected, lacks, seconds);
                coordinators(self.names, peer.peers()).map(wait).collect()
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
            name: self.names.me.clone(),
            role: "peer".to_owned(),
            progress: peer.round().into(),
            waits,
            computing_seconds: computes.then_some(seconds),
            inside: Vec::new(),
        }
    }

    fn wait(&self, on: PeerNo, disconnected: bool, lacks: &str, seconds: f64) -> ProcessWait {
        let why = match disconnected {
            true => self.network.why_not(on),
            false => lacks.to_owned(),
        };
        ProcessWait { on: self.names.of(on).to_owned(), why, seconds, disconnected }
    }
}

/// Returns the number of a peer.
pub(crate) fn number(rank: Rank) -> PeerNo {
    PeerNo(u32::from(rank.get()))
}

/// Returns the numbers of coordinators, which follow those of peers.
pub(crate) fn coordinators(names: &Names, peers: usize) -> impl Iterator<Item = PeerNo> {
    (peers as u32..names.all.len() as u32).map(PeerNo)
}
