//! The server's side: takes updates, and sends the model to workers with a permission.

mod awaited;
mod checkpoints;
mod ends;
mod held;
mod leaving;
mod link;
mod memory;
mod messages;
mod pushes;
mod report;
mod training;
mod turns;
mod waits;
mod writes;

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Lane, Machine, Output, PeerNo, Seen};
use inart_protocol_ps::WorkerNo;

use crate::counters::ServerCounters;
use crate::message::{Body, message_packet};
use crate::outgoing::{Flow, Outgoing};
use crate::packet::{Packet, decode};
use crate::sequencer::Sequencer;
pub use awaited::Awaited;
use checkpoints::Checkpoints;
pub use checkpoints::{CheckpointStore, TrainingCheckpoint};
use ends::{Alone, Ends};
pub use held::Training;
use link::Link;
pub use report::{ServerReport, ServerSetup};

/// Messages overtake chunks; chunks leave in order.
const URGENT: i32 = i32::MAX;

/// The server of a sequencer `S` on connections to its workers.
#[derive(Debug, Clone)]
pub struct ServerAgent<S> {
    setup: ServerSetup,
    training: Training,
    /// Reason of an early end.
    stopped: Option<String>,
    sequencer: S,
    links: Vec<Link>,
    /// Current model, once pulled.
    model: Option<(u64, Arc<Vec<f32>>)>,
    next_ticket: u64,
    next_id: u64,
    /// Workers that asked before all had joined; `None` after the start.
    gathering: Option<BTreeSet<WorkerNo>>,
    is_closing: bool,
    ends: Ends,
    alone: Alone,
    checkpoints: Checkpoints,
    outputs: VecDeque<ServerReport>,
    counters: ServerCounters,
}

impl<S: Sequencer> ServerAgent<S> {
    /// Creates a server without connections, at time 0.
    pub fn new(setup: ServerSetup, sequencer: S) -> Self {
        ServerAgent {
            links: vec![Link::default(); setup.rates_bps.len()],
            sequencer,
            model: None,
            // Permissions of different incarnations have different numbers, so an update matches at most one.
            next_ticket: u64::from(setup.incarnation) << 32 | 1,
            training: Training::default(),
            stopped: None,
            next_id: 0,
            gathering: Some(BTreeSet::new()),
            is_closing: false,
            ends: Ends::default(),
            alone: Alone::default(),
            checkpoints: Checkpoints::default(),
            outputs: VecDeque::new(),
            counters: ServerCounters::default(),
            setup,
        }
    }

    /// Sets the training: its number, and the settings that workers must share.
    #[must_use]
    pub fn with_training(mut self, training: Training) -> Self {
        self.training = training;
        self
    }

    /// Returns the training: its number, and the settings that workers must share.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// Returns the sequencer.
    pub fn sequencer(&self) -> &S {
        &self.sequencer
    }

    /// Returns the drop counters.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Returns whether the training is over and all connected workers know.
    pub fn is_over(&self) -> bool {
        let knows = |link: &Link| {
            !link.is_up || link.incarnation.is_none() || link.is_notified && link.lane.is_empty()
        };
        self.is_closing
            && self.workers().all(|who| self.sequencer.is_away(who))
            && self.links.iter().all(knows)
    }

    /// Returns whether no worker takes part.
    pub fn is_idle(&self) -> bool {
        self.workers().all(|who| self.sequencer.is_away(who))
    }

    /// Returns whether the training is over for the server; some workers may not know.
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Returns the current model.
    pub fn model(&mut self) -> Arc<Vec<f32>> {
        let version = self.sequencer.version();
        match &self.model {
            Some((of, values)) if *of == version => values.clone(),
            _ => {
                let values = Arc::new(self.sequencer.values().to_vec());
                self.model = Some((version, values.clone()));
                values
            }
        }
    }

    fn workers(&self) -> impl Iterator<Item = WorkerNo> + use<S> {
        (0..self.links.len() as u32).map(WorkerNo)
    }

    fn flow(&self, worker: WorkerNo) -> Flow {
        Flow {
            chunk_values: self.setup.chunk_values,
            precision: self.setup.precision,
            window: self.setup.window,
            rate_bps: self.setup.rates_bps[worker.index()],
        }
    }

    fn send(&mut self, worker: WorkerNo, incarnation: u32, body: Body) {
        let link = &mut self.links[worker.index()];
        if link.is_up {
            let is_waiting = link.lane.push(message_packet(incarnation, self.setup.incarnation, body));
            self.counters.unsaid += u64::from(!is_waiting);
        }
    }
}

impl<S: Sequencer> Machine for ServerAgent<S> {
    type Command = Infallible;
    type Report = ServerReport;
    type Done = Result<(), String>;

    fn up(&mut self, worker: PeerNo, now: Duration) {
        self.down(worker, now);
        if let Some(link) = self.links.get_mut(worker.index()) {
            (link.is_up, link.absent_at) = (true, None);
            self.alone.since = None;
        }
    }

    fn down(&mut self, worker: PeerNo, now: Duration) {
        let Some(link) = self.links.get_mut(worker.index()) else { return };
        (link.lane, link.is_met, link.is_notified) = (Lane::default(), false, false);
        if let Some(outgoing) = &mut link.outgoing {
            outgoing.stop();
        }
        if std::mem::take(&mut link.is_up) {
            link.absent_at = Some(now.saturating_add(self.setup.absence));
            let is_alone = self.is_alone();
            self.alone.down(is_alone, now);
        }
    }

    /// Does not wait for a new connection, unless the training is over.
    fn left(&mut self, worker: PeerNo, now: Duration) {
        self.down(worker, now);
        if self.is_closing {
            return;
        }
        if let Some(link) = self.links.get_mut(worker.index()) {
            link.absent_at = Some(now);
        }
        self.tick(now);
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, _seen: Option<Seen>, now: Duration) {
        let worker = WorkerNo(from.0);
        if worker.index() >= self.links.len() {
            self.counters.malformed += 1;
            return;
        }
        if self.stopped.is_some() {
            return self.answer_stopped(worker, data);
        }
        match decode(data) {
            Err(_) => self.counters.malformed += 1,
            Ok(Packet::Chunk { tag, number, values }) => self.chunk(worker, tag, number, &values, now),
            Ok(Packet::Message(message)) => self.message(worker, message, now),
        }
        self.settle(now);
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        let worker = (id % self.links.len().max(1) as u64) as usize;
        let Some(link) = self.links.get_mut(worker) else { return };
        if !link.lane.ended(id, is_taken, now)
            && let Some(outgoing) = &mut link.outgoing
        {
            outgoing.ended(id, is_taken, now);
        }
    }

    fn command(&mut self, command: Infallible, _now: Duration) {
        match command {}
    }

    fn done(&mut self, kept: Result<(), String>, _now: Duration) {
        self.checkpoints.is_writing = false;
        if let Err(why) = kept {
            self.checkpoints.store = None;
            self.outputs.push_front(ServerReport::NotKept { why });
        }
    }

    fn stop(&mut self, why: &str, now: Duration) {
        self.end_early(why, now);
    }

    fn tick(&mut self, now: Duration) {
        if self.stopped.is_some() {
            return;
        }
        if let Some(waited) = self.alone.take(now).filter(|_| !self.is_closing) {
            self.outputs.push_back(ServerReport::Alone { waited });
        }
        for worker in self.workers() {
            let link = &mut self.links[worker.index()];
            if link.absent_at.is_some_and(|at| now >= at) {
                link.absent_at = None;
                if !self.sequencer.is_away(worker) {
                    link.forget();
                    self.counters.absent += 1;
                    self.sequencer.leave(worker, now);
                    self.outputs.push_back(ServerReport::Gone { worker });
                }
            }
        }
        self.sequencer.tick(now);
        self.settle(now);
    }

    fn wake_at(&self) -> Option<Duration> {
        if self.checkpoints.is_writing {
            // Messages wait for the version's checkpoint.
            return None;
        }
        let links = self.links.iter().filter(|link| link.is_up);
        let sends = links.flat_map(|link| {
            let outgoing = link.outgoing.as_ref().and_then(Outgoing::wake_at);
            [link.lane.wake_at(), outgoing].into_iter().flatten()
        });
        if self.stopped.is_some() {
            // No worker is awaited: a past time would make the process spin.
            return sends.min();
        }
        let absent = self.links.iter().filter_map(|link| link.absent_at);
        let asked = self.gathering.as_ref().filter(|asked| !asked.is_empty());
        let gather = asked.map(|_| self.setup.gather);
        let alone = self.alone.wake_at().filter(|_| !self.is_closing);
        sends.chain(absent).chain(gather).chain(alone).chain(self.sequencer.wake_at()).min()
    }

    fn next(&mut self, now: Duration) -> Option<Output<ServerReport, Result<(), String>>> {
        if self.checkpoints.is_writing {
            return None;
        }
        if let Some(write) = self.next_write() {
            return Some(Output::Work(write));
        }
        if let Some(news) = self.outputs.pop_front() {
            self.checkpoints.covered = self.checkpoints.covered.saturating_sub(1);
            return Some(Output::Report(news));
        }
        let workers = self.links.len() as u64;
        for (to, link) in self.links.iter_mut().enumerate().filter(|(_, link)| link.is_up) {
            let id = self.next_id * workers + to as u64;
            let (data, priority) = match link.lane.next(id, now) {
                Some(data) => (data, URGENT),
                None => match link.outgoing.as_mut().and_then(|outgoing| outgoing.next(id, now)) {
                    Some(data) => (data, 0),
                    None => continue,
                },
            };
            self.next_id += 1;
            return Some(Output::Send { to: PeerNo(to as u32), id, data, priority });
        }
        self.may_go(now).then_some(Output::Over)
    }

    fn may_end(&self, _worker: PeerNo) -> bool {
        self.is_closing
    }
}
