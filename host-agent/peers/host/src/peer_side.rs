//! The part of a peer that reports to its program, logs and publishes its status, next to its machine.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use inart_connections::{Host, Names, PeerNo, Transport, WaitWatch};
use inart_host_agent::status::StatusPublisher;
use inart_peers_agent::{Awaited, PeerProcess, PeerReport, Received, Start};
use inart_protocol_peers::Outcome;
use inart_wire::Rank;

use crate::ending::Ending;
use crate::error::HostError;
use crate::status::{Connected, coordinators, number};

/// Event for the training program.
#[derive(Debug)]
pub(crate) enum ThreadEvent {
    Compute(Start),
    Received(Received),
    Ended { outcome: Outcome, rounds_with_previous_receivers: bool },
    Finished(Start),
    Left(Box<Result<Ending, HostError>>),
}

/// A peer's reports, log and status, next to its machine.
pub(crate) struct PeerSide {
    names: Names,
    events: Sender<ThreadEvent>,
    watch: WaitWatch<Awaited>,
    status: StatusPublisher,
    /// Time at which the last round ended.
    pub finished: Option<Instant>,
}

impl PeerSide {
    pub fn new(names: Names, events: Sender<ThreadEvent>, status: StatusPublisher) -> Self {
        PeerSide { names, events, watch: WaitWatch::default(), status, finished: None }
    }

    /// Logs the parties that the peer waits for, when due.
    fn log_waits(&mut self, process: &PeerProcess, network: &Transport) {
        let waits = process.peer().awaited();
        let is_meeting = matches!(waits, Some(Awaited::Coordinator { .. }));
        let Some(waited) = self.watch.due(waits.clone(), is_meeting) else { return };
        let with_trouble = |peer: PeerNo| match network.trouble(peer) {
            Some(trouble) => format!("{} (not connected: {trouble})", self.names.of(peer)),
            None => self.names.of(peer).to_owned(),
        };
        let names = |peers: &[Rank]| {
            let each = peers.iter().map(|&rank| match process.is_connected(rank) {
                true => format!("{} (connected)", self.names.of(number(rank))),
                false => with_trouble(number(rank)),
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let seconds = waited.as_secs();
        match waits {
            Some(Awaited::Coordinator { is_connected: false }) => {
                let all = coordinators(&self.names, process.peer().peers()).map(with_trouble);
                tracing::warn!("waiting for {}, for {seconds} s", all.collect::<Vec<_>>().join(" or "));
            }
            Some(Awaited::Coordinator { is_connected: true }) => {
                tracing::warn!("waiting for {seconds} s: the coordinator gathers peers");
            }
            Some(Awaited::Round { round, peers }) => {
                tracing::warn!("waiting for {seconds} s for round {round} of {}", names(&peers));
            }
            Some(Awaited::Receivers { round, peers }) => {
                tracing::warn!("sending the update of round {round} for {seconds} s to {}", names(&peers));
            }
            None => {}
        }
    }
}

impl Host<PeerProcess> for PeerSide {
    type Error = HostError;

    fn report(&mut self, report: PeerReport, process: &mut PeerProcess) -> Result<(), HostError> {
        let name = self.names.me.clone();
        let report = match report {
            PeerReport::Compute(start) => ThreadEvent::Compute(start),
            PeerReport::Received(update) => ThreadEvent::Received(update),
            PeerReport::Ended { outcome, rounds_with_previous_receivers } => {
                tracing::debug!("{}", process.peer().describe());
                ThreadEvent::Ended { outcome, rounds_with_previous_receivers }
            }
            PeerReport::Finished(start) => {
                self.finished = Some(Instant::now());
                ThreadEvent::Finished(start)
            }
            PeerReport::Rejected(error) => return Err(HostError::Rejected { name, error }),
            PeerReport::Update(error) => return Err(HostError::Update { name, error }),
        };
        // An ended training program is detected by its orders.
        let _ = self.events.send(report);
        Ok(())
    }

    fn look(
        &mut self,
        process: &mut PeerProcess,
        network: &Transport,
        _now: Duration,
    ) -> Result<(), HostError> {
        self.log_waits(process, network);
        if self.status.is_due() {
            let connected = Connected { names: &self.names, network };
            self.status.take(connected.status(process, self.watch.waited()));
        }
        Ok(())
    }
}
