//! The coordinator's process.

use std::time::Duration;

use inart_connections::{Host, Names, Transport, WaitWatch, drive};
use inart_host_agent::StopSignal;
use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, StatusSocket};
use inart_peers_agent::{
    Coordinator, CoordinatorProcess, CoordinatorReport, CoordinatorSetup, Schemes, Term,
};
use inart_wire::Rank;

use crate::error::HostError;
use crate::job::Job;
use crate::names::{check_addresses, names};
use crate::options::HostOptions;
use crate::status::number;

/// Event of a coordinator.
#[derive(Debug, Clone, PartialEq)]
pub enum CoordinatorEvent {
    /// The coordinator is in charge and has sent the roster.
    InCharge {
        /// Term of the coordinator.
        term: Term,
        /// Names of the peers that take part.
        peers: Vec<String>,
    },
    /// Receivers were chosen.
    Chosen {
        /// Sender of the update.
        from: String,
        /// Round of the sender.
        round: u32,
        /// Names of the receivers.
        to: Vec<String>,
        /// Sending rate, in bit/s.
        rate_bps: f64,
    },
    /// No receivers could be chosen; peers send to their last ones.
    NotChosen {
        /// Reason, as the end of a sentence.
        why: String,
    },
    /// A peer has another job configuration.
    OtherJob {
        /// Name of the peer.
        peer: String,
    },
}

/// A coordinator and its connections.
pub struct CoordinatorHost {
    process: CoordinatorProcess<Schemes>,
    names: Names,
    transport: Transport,
    side: Side,
}

/// A coordinator's log, its status, and the signal that ends it, next to its machine.
struct Side {
    names: Names,
    watch: WaitWatch<Vec<Rank>>,
    stop: Option<StopSignal>,
    status: StatusPublisher,
    /// Choices sent so far.
    choices: u64,
}

impl CoordinatorHost {
    /// Listens, and starts to connect to all peers. `name`: the coordinator's own, as in its certificate.
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address is not available, or certificates are invalid; a peer's address is missing, or an address
    /// belongs to no peer; a peer has the coordinator's name.
    pub fn open(
        job: &Job,
        setup: CoordinatorSetup,
        schemes: Schemes,
        name: &str,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        if job.peers().iter().any(|peer| peer == name) {
            return Err(HostError::NameTaken { name: name.to_owned() });
        }
        check_addresses(job.name(), job.peers(), name, &options.peers)?;
        let options = HostOptions { coordinators: Default::default(), ..options };
        let names = names(job.peers(), name, &options.coordinators)?;
        let transport = Transport::quic(&names, options.quic())?;
        let process = CoordinatorProcess::new(Coordinator::new(setup, schemes));
        let side = Side {
            names: names.clone(),
            watch: WaitWatch::default(),
            stop: None,
            status: StatusPublisher::default(),
            choices: 0,
        };
        Ok(Self { process, names, transport, side })
    }

    /// Ends when this signal arrives.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSignal) -> Self {
        self.side.stop = Some(stop);
        self
    }

    /// Sets the time without any connected peer after which the coordinator ends; 600 s by default.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.process = self.process.with_patience(patience);
        self
    }

    /// Publishes the coordinator's status through this socket.
    #[must_use]
    pub fn with_status(self, socket: StatusSocket<AnyStatus>) -> Self {
        self.side.status.set(socket);
        self
    }

    /// Serves peers until all that take part have ended the last round; calls `on_event` for each event.
    ///
    /// # Errors
    /// Another coordinator is in charge; the process was stopped; another process of the same name is
    /// connected; no peer was connected for too long.
    pub async fn run(mut self, on_event: impl FnMut(CoordinatorEvent)) -> Result<(), HostError> {
        // A coordinator has no program that sends orders.
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let mut host = Coordinating { side: &mut self.side, on_event };
        let ended = drive(self.process, &self.names, self.transport, taken, &mut host).await;
        drop(orders);
        ended.map(drop)
    }
}

impl Side {
    fn name(&self, peer: Rank) -> String {
        self.names.of(number(peer)).to_owned()
    }

    fn peers(&self) -> impl Iterator<Item = Rank> + use<> {
        (0..self.names.all.len()).filter_map(|at| Rank::try_from(at).ok())
    }

    /// Returns peers without a connection that the coordinator waits for.
    fn awaited(&self, process: &CoordinatorProcess<Schemes>) -> Vec<Rank> {
        let is_awaited = |rank: &Rank| process.waits() && !process.is_connected(*rank);
        self.peers().filter(is_awaited).collect()
    }

    /// Logs which peers are not connected: before the start, and once none is.
    fn log_waits(&mut self, awaited: &[Rank], network: &Transport) {
        let waits = Some(awaited.to_vec()).filter(|awaited| !awaited.is_empty());
        let Some(waited) = self.watch.due(waits, true) else { return };
        let each = awaited.iter().map(|&rank| match network.trouble(number(rank)) {
            Some(trouble) => format!("{} (not connected: {trouble})", self.name(rank)),
            None => self.name(rank),
        });
        let each: Vec<_> = each.collect();
        tracing::warn!("waiting for {}, for {} s", each.join(", "), waited.as_secs());
    }

    fn publish(&self, awaited: &[Rank], network: &Transport, now: Duration) {
        let seconds = now.as_secs_f64();
        let wait = |rank: &Rank| {
            let why = network.why_not(number(*rank));
            ProcessWait { on: self.name(*rank), why, seconds, disconnected: true }
        };
        self.status.take(ProcessStatus {
            name: self.names.me.clone(),
            role: "coordinator".to_owned(),
            progress: self.choices,
            waits: awaited.iter().map(wait).collect(),
            ..ProcessStatus::default()
        });
    }
}

/// A running coordinator.
struct Coordinating<'a, F> {
    side: &'a mut Side,
    on_event: F,
}

impl<F: FnMut(CoordinatorEvent)> Host<CoordinatorProcess<Schemes>> for Coordinating<'_, F> {
    type Error = HostError;

    fn report(
        &mut self,
        report: CoordinatorReport,
        _process: &mut CoordinatorProcess<Schemes>,
    ) -> Result<(), HostError> {
        let side = &mut *self.side;
        let names = |peers: Vec<Rank>| peers.into_iter().map(|peer| side.name(peer)).collect();
        let event = match report {
            CoordinatorReport::InCharge { term, peers } => {
                CoordinatorEvent::InCharge { term, peers: names(peers) }
            }
            CoordinatorReport::Chosen { from, round, to, rate_bps } => {
                let (from, to) = (side.name(from), names(to));
                side.choices += 1;
                CoordinatorEvent::Chosen { from, round, to, rate_bps }
            }
            CoordinatorReport::NotChosen { why } => {
                tracing::warn!("no receivers were chosen: {why}");
                CoordinatorEvent::NotChosen { why }
            }
            CoordinatorReport::OtherJob { peer, why } => {
                let peer = side.name(peer);
                tracing::warn!("{peer} is refused: {why}");
                CoordinatorEvent::OtherJob { peer }
            }
            CoordinatorReport::Superseded { by } => {
                return Err(HostError::Superseded { name: side.names.me.clone(), by });
            }
            CoordinatorReport::Alone { waited } => {
                let (name, peers) = (side.names.me.clone(), side.names.all.clone());
                return Err(HostError::NoPeers { name, seconds: waited.as_secs_f64(), peers });
            }
        };
        (self.on_event)(event);
        Ok(())
    }

    fn look(
        &mut self,
        process: &mut CoordinatorProcess<Schemes>,
        network: &Transport,
        now: Duration,
    ) -> Result<(), HostError> {
        let side = &mut *self.side;
        if side.stop.as_mut().is_some_and(|stop| stop.is_received().unwrap_or_default()) {
            return Err(inart_connections::Error::Stopped { name: side.names.me.clone() }.into());
        }
        let awaited = side.awaited(process);
        side.log_waits(&awaited, network);
        if side.status.is_due() {
            side.publish(&awaited, network, now);
        }
        Ok(())
    }
}
