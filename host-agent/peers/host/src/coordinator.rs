//! The coordinator's process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_connections::WaitWatch;
use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, StatusSocket};
use inart_host_agent::StopSignal;
use inart_peer_agent::{Body, Coordinator, CoordinatorOutput, CoordinatorSetup, Schemes, Term, decode};
use inart_quic::{Endpoint, Event, Events, is_regular_end, names_another_process};
use tokio::time::sleep_until;

use crate::error::HostError;
use crate::job::Job;
use crate::lane::Lane;
use crate::names::{Names, Who};
use crate::options::HostOptions;

/// The machine is asked what is due no more often.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);
/// Nor is it left alone for longer.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// For this time no peer may be connected, unless set otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// How a coordinator has ended.
enum Ended {
    /// Another one is in charge.
    Superseded(Term),
    /// So have all peers.
    Over,
}

/// What a coordinator has done.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// It is in charge, and has said who takes part.
    InCharge {
        /// Its term.
        term: Term,
        /// The names of those who do.
        peers: Vec<String>,
    },
    /// It has chosen receivers.
    Chosen {
        /// Of whose update.
        from: String,
        /// Of which of its rounds.
        round: u32,
        /// Names of the receivers.
        to: Vec<String>,
        /// The rate at which the update is to leave, in bit/s.
        rate_bps: f64,
    },
    /// No receivers could be chosen; peers send to the last ones.
    NotChosen {
        /// Why, as the end of a sentence.
        why: String,
    },
    /// A peer has another job in mind.
    OtherJob {
        /// Its name.
        peer: String,
    },
}

/// A coordinator and its connections.
pub struct CoordinatorHost {
    me: String,
    coordinator: Coordinator<Schemes>,
    names: Names,
    endpoint: Endpoint,
    events: Events,
    start: Instant,
    /// The peers that there are connections to.
    lanes: BTreeMap<String, Lane>,
    /// Whom each message is for.
    under_way: BTreeMap<u64, String>,
    next_id: u64,
    /// What was told last of who takes part.
    roll: Vec<u32>,
    watch: WaitWatch<Vec<String>>,
    /// Since when no peer is connected, and for how long that may be.
    alone: Option<Instant>,
    patience: Duration,
    stop: Option<StopSignal>,
    /// Receivers that were chosen so far.
    choices: u64,
    status: StatusPublisher,
    /// Another process of its name is connected to a peer.
    duplicate: Option<String>,
}

impl CoordinatorHost {
    /// Listens, and begins to connect to all peers. `name`: its own, as in its certificate. To be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// An address that cannot be had, or certificates; a peer whose address is missing, an address of who is
    /// none; a name that a peer has.
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
        let names = Names::new(job.name(), job.peers(), name, &options.peers, &BTreeMap::new())?;
        let mut quic = inart_quic::Options::new(options.listen, options.tls, name, options.peers);
        quic.congestion = options.congestion;
        quic.most_bytes = crate::options::MOST_BYTES;
        let (endpoint, events) = Endpoint::open(quic)?;
        Ok(Self {
            me: name.to_owned(),
            coordinator: Coordinator::new(setup, schemes),
            names,
            endpoint,
            events,
            start: Instant::now(),
            lanes: BTreeMap::new(),
            under_way: BTreeMap::new(),
            next_id: 0,
            roll: Vec::new(),
            watch: WaitWatch::default(),
            alone: Some(Instant::now()),
            patience: PATIENCE,
            stop: None,
            choices: 0,
            status: StatusPublisher::default(),
            duplicate: None,
        })
    }

    /// Ends when this signal is received.
    #[must_use]
    pub fn with_stop(mut self, stop: StopSignal) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Sets for how long no peer may be connected before the coordinator ends; 600 s by default.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Publishes through this socket what the coordinator does.
    #[must_use]
    pub fn with_status(mut self, socket: StatusSocket<AnyStatus>) -> Self {
        self.status.set(socket);
        self
    }

    fn publish(&mut self) {
        if !self.status.is_due() {
            return;
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let wait = |name: &String| {
            let why = self.endpoint.why_not(name);
            ProcessWait { on: name.clone(), why, seconds, disconnected: true }
        };
        let waits = if self.waits() { self.lacking().iter().map(wait).collect() } else { Vec::new() };
        let status = ProcessStatus {
            name: self.me.clone(),
            role: "coordinator".to_owned(),
            progress: self.choices,
            waits,
            ..ProcessStatus::default()
        };
        self.status.take(status);
    }

    /// Whether it waits for peers to connect: before it has begun, and without any.
    fn waits(&self) -> bool {
        self.coordinator.term().is_none() || self.lanes.is_empty()
    }

    /// Peers without a connection.
    fn lacking(&self) -> Vec<String> {
        let is_lacking = |name: &&String| !self.lanes.contains_key(*name);
        self.names.peers().iter().filter(is_lacking).cloned().collect()
    }

    /// Serves peers until all that take part have ended the last round; calls `told` for what it does.
    ///
    /// # Errors
    /// Another coordinator is in charge; it was stopped; another process of its name is connected; no peer
    /// was connected for too long.
    pub async fn run(mut self, mut told: impl FnMut(Told)) -> Result<(), HostError> {
        loop {
            let wake_at = self.wake_at().into();
            tokio::select! {
                event = self.events.next() => match event {
                    Some(event) => self.event(event),
                    None => return Ok(()),
                },
                () = sleep_until(wake_at) => self.coordinator.tick(self.start.elapsed()),
            }
            if self.stop.as_mut().is_some_and(|stop| stop.is_received().unwrap_or_default()) {
                self.endpoint.close().await;
                return Err(HostError::Stopped { name: self.me });
            }
            if let Some(reason) = self.duplicate.take() {
                self.endpoint.close().await;
                return Err(HostError::Duplicate { name: self.me, reason });
            }
            let alone = self.alone();
            if alone >= self.patience {
                self.endpoint.close().await;
                let peers = self.names.peers().to_vec();
                return Err(HostError::NoPeers { name: self.me, seconds: alone.as_secs_f64(), peers });
            }
            match self.carry_out(&mut told) {
                Some(Ended::Superseded(by)) => {
                    self.endpoint.close().await;
                    return Err(HostError::Superseded { name: self.me, by });
                }
                Some(Ended::Over) => {
                    self.endpoint.close().await;
                    return Ok(());
                }
                None => self.look(),
            }
            self.publish();
        }
    }

    /// For how long no peer has been connected.
    fn alone(&mut self) -> Duration {
        if !self.lanes.is_empty() {
            self.alone = None;
            return Duration::ZERO;
        }
        self.alone.get_or_insert_with(Instant::now).elapsed()
    }

    /// Says which peers are not connected: before it has begun, and once none is.
    fn look(&mut self) {
        let lacking = if self.waits() { self.lacking() } else { Vec::new() };
        let waits = Some(lacking.clone()).filter(|lacking| !lacking.is_empty());
        let Some(waited) = self.watch.due(waits, true) else { return };
        let each = lacking.iter().map(|name| match self.endpoint.trouble(name) {
            Some(trouble) => format!("{name} (not connected: {trouble})"),
            None => name.clone(),
        });
        let each: Vec<_> = each.collect();
        tracing::warn!("waiting for {}, for {} s", each.join(", "), waited.as_secs());
    }

    fn wake_at(&self) -> Instant {
        let now = self.start.elapsed();
        let due = self.coordinator.wake_at().unwrap_or(Duration::MAX);
        self.start + due.clamp(now + SHORTEST_SLEEP, now + LONGEST_SLEEP)
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        match event {
            Event::Up { peer } => {
                tracing::info!("{peer} is connected");
                self.lanes.insert(peer, Lane::default());
            }
            Event::Down { peer, reason } => {
                if names_another_process(&reason) {
                    self.duplicate.get_or_insert(reason.clone());
                }
                match is_regular_end(&reason) {
                    true => tracing::info!("{peer} has ended"),
                    false => tracing::warn!("the connection to {peer} has ended: {reason}"),
                }
                self.lanes.remove(&peer);
                if let Some(rank) = self.names.rank(&peer) {
                    self.coordinator.down(rank, now);
                }
            }
            Event::Received { peer, data, .. } => match self.names.who(&peer) {
                Some(Who::Peer(rank)) => self.coordinator.message(rank, data, now),
                Some(Who::Coordinator) | None => {}
            },
            Event::Acknowledged { id, .. } | Event::Failed { id, .. } => {
                let lane = self.under_way.remove(&id).and_then(|name| self.lanes.get_mut(&name));
                if let Some(lane) = lane {
                    lane.ended(id);
                }
            }
            Event::Stranger { address, names } => {
                tracing::warn!("{} at {address} is no peer of the job", names.join(" or "));
            }
        }
    }

    /// Does what the coordinator wants; how it has ended, if it has.
    fn carry_out(&mut self, told: &mut impl FnMut(Told)) -> Option<Ended> {
        while let Some(output) = self.coordinator.next_output() {
            match output {
                CoordinatorOutput::Send { to, data } => {
                    let name = self.names.of(to).to_owned();
                    self.tell(&name, &data, told);
                    if let Some(lane) = self.lanes.get_mut(&name) {
                        lane.push(data);
                    }
                }
                CoordinatorOutput::OtherJob { peer } => {
                    let peer = self.names.of(peer).to_owned();
                    // Its name is here, and what differs in the message to it.
                    told(Told::OtherJob { peer });
                }
                CoordinatorOutput::NotChosen { why } => {
                    tracing::warn!("no receivers were chosen: {why}");
                    told(Told::NotChosen { why });
                }
                CoordinatorOutput::Superseded { by } => return Some(Ended::Superseded(by)),
                CoordinatorOutput::Over => return Some(Ended::Over),
            }
        }
        self.send();
        None
    }

    fn send(&mut self) {
        for (name, lane) in &mut self.lanes {
            let Some(data) = lane.next(self.next_id) else { continue };
            self.under_way.insert(self.next_id, name.clone());
            if let Err(error) = self.endpoint.send(name, self.next_id, data, 0) {
                tracing::error!("a message was not sent: {error}");
            }
            self.next_id += 1;
        }
    }

    /// What a message to a peer says, for who watches.
    fn tell(&mut self, peer: &str, data: &Bytes, told: &mut impl FnMut(Told)) {
        let name = |rank: usize| inart_wire::Rank::try_from(rank).map(|rank| self.names.of(rank).to_owned());
        match decode(data.clone()) {
            Ok(Body::Roster(roster)) if roster.lives != self.roll => {
                let there = (0..roster.lives.len()).filter(|&rank| roster.lives[rank] != 0);
                let peers = there.filter_map(|rank| name(rank).ok()).collect();
                told(Told::InCharge { term: roster.term.unwrap_or_default(), peers });
                self.roll = roster.lives;
            }
            Ok(Body::Choice(choice)) => {
                let to = choice.receivers.iter().filter_map(|&rank| name(rank as usize).ok()).collect();
                let (round, rate_bps) = (choice.round, choice.rate_bps);
                self.choices += 1;
                told(Told::Chosen { from: peer.to_owned(), round, to, rate_bps });
            }
            Ok(Body::OtherJob(other)) => tracing::warn!("{peer} is refused: {}", other.why),
            _ => {}
        }
    }
}
