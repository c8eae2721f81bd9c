//! A worker's side: asks, pulls the model, has an update computed, pushes it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_order::{Step, Taken, Worker};
use inart_terms::Terms;

use crate::chunk::{Precision, Tag, as_received};
use crate::counters::WorkerCounters;
use crate::incoming::{Incoming, Took};
use crate::lane::Lane;
use crate::message::{
    Arrived, Body, Hello, Message, Permit, Pull, Pushed, Request, Span, Waiting, Welcome, message_packet,
};
use crate::outgoing::{Flow, Outgoing};
use crate::packet::{Packet, decode};

/// Messages overtake chunks.
const URGENT: i32 = i32::MAX;

/// What a worker is told.
#[derive(Debug, Clone)]
pub struct WorkerSetup {
    /// Its life: another one at each start, and never 0.
    pub life: u32,
    /// A fingerprint of the model.
    pub model: u64,
    /// The model's values; at least 1.
    pub values: usize,
    /// Chunks under way at most.
    pub window: usize,
    /// The rate at which updates are sent, in bit/s; no limit unless told.
    pub rate_bps: Option<f64>,
    /// After so long without a server the worker ends.
    pub patience: Duration,
}

/// What a worker is to compute.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The permission, which the update has to name.
    pub ticket: u64,
    /// The number of the iteration.
    pub iteration: u64,
    /// How many samples.
    pub batch: u32,
    /// The model's version.
    pub version: u64,
    /// The model.
    pub model: Arc<Vec<f32>>,
    /// Values of a chunk.
    pub chunk_values: usize,
    /// How they travel.
    pub precision: Precision,
}

impl Start {
    /// An update's values as they arrive at the server.
    pub fn arriving(&self, update: &[f32]) -> Vec<f32> {
        as_received(update, self.chunk_values, self.precision)
    }
}

/// Why a worker cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The server does not take it in.
    #[error("the server does not take this worker in: {0}")]
    Refused(String),
    /// The server has ended the training before its last iteration.
    #[error("the server has ended the training: {0}")]
    Stopped(String),
    /// There is no server.
    #[error("no server for {} s: start it, or say where it is", .0.as_secs_f64())]
    NoServer(Duration),
    /// The program's update has another length than the model.
    #[error("an update of {values} values, and the model has {own}: give one value for each")]
    Length {
        /// The update's.
        values: usize,
        /// The model's.
        own: usize,
    },
}

/// What a worker has its host do, or tells it.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerOutput {
    /// Send a packet to the server; tell how it ended by [`WorkerAgent::ended`].
    Send {
        /// What it is called.
        id: u64,
        /// The packet.
        data: Bytes,
        /// What has more leaves first.
        priority: i32,
    },
    /// Compute an update, and say so by [`WorkerAgent::computed`].
    Compute(Start),
    /// An update has arrived at the server.
    Pushed {
        /// Of which iteration.
        iteration: u64,
        /// What the server says is wrong with its values, if something is.
        refusal: Option<String>,
    },
    /// The training is over.
    Over {
        /// The model's last version.
        version: u64,
    },
    /// The server leaves this client out for its data: it is over for it.
    LeftOut {
        /// Why.
        why: String,
    },
    /// The server waits for others.
    Waiting {
        /// For whom, and why.
        why: String,
    },
    /// The worker cannot go on.
    Failed(WorkerError),
}

/// What the server has told of itself.
#[derive(Debug, Clone, Copy)]
struct Server {
    life: u32,
    chunk_values: usize,
    precision: Precision,
    training: u64,
}

/// What the worker is doing by a permission.
#[derive(Debug, Clone, Copy)]
struct Current {
    ticket: u64,
    server_life: u32,
    iteration: u64,
    pulls: u32,
    version: u64,
}

/// One worker, on a connection to its server.
#[derive(Debug, Clone)]
pub struct WorkerAgent {
    setup: WorkerSetup,
    terms: Terms,
    /// The training in which its last update was taken, and how many were; 0 for none.
    trained: (u64, u64),
    /// The newest version that it has pulled.
    version: u64,
    machine: Worker,
    is_up: bool,
    /// Since when it has no server.
    alone_since: Option<Duration>,
    /// Hellos so far; whether the last one was answered.
    hellos: u64,
    is_welcome: bool,
    server: Option<Server>,
    current: Option<Current>,
    /// The newest permission of this life of the server; 0 for none.
    newest: u64,
    incoming: Option<Incoming>,
    outgoing: Option<Outgoing>,
    lane: Lane,
    next_id: u64,
    is_over: bool,
    outputs: VecDeque<WorkerOutput>,
    counters: WorkerCounters,
}

impl WorkerAgent {
    /// A worker without a connection, at time 0.
    pub fn new(setup: WorkerSetup) -> Self {
        WorkerAgent {
            setup,
            terms: Terms::default(),
            trained: (0, 0),
            version: 0,
            machine: Worker::new(),
            is_up: false,
            alone_since: Some(Duration::ZERO),
            hellos: 0,
            is_welcome: false,
            server: None,
            current: None,
            newest: 0,
            incoming: None,
            outgoing: None,
            lane: Lane::default(),
            next_id: 0,
            is_over: false,
            outputs: VecDeque::new(),
            counters: WorkerCounters::default(),
        }
    }

    /// Sets what the server has to share.
    #[must_use]
    pub fn with_terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// What was dropped, by reason.
    pub fn counters(&self) -> WorkerCounters {
        self.counters
    }

    /// The newest version that it has pulled.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether the training is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// A connection to the server is up; one before has ended.
    pub fn up(&mut self, now: Duration) {
        self.down(now);
        self.is_up = true;
        self.hello();
    }

    /// The connection to the server has ended.
    pub fn down(&mut self, now: Duration) {
        (self.is_up, self.is_welcome, self.lane) = (false, false, Lane::default());
        self.alone_since = self.alone_since.or(Some(now));
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.stop();
        }
    }

    /// A packet has come from the server.
    pub fn received(&mut self, data: &Bytes) {
        match decode(data) {
            Err(_) => self.counters.malformed += 1,
            Ok(Packet::Chunk { tag, number, values }) => self.chunk(tag, number, &values),
            Ok(Packet::Message(message)) => self.message(message),
        }
    }

    /// A packet has ended: the server has it, or that is not known.
    pub fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        if !self.lane.ended(id, is_taken, now)
            && let Some(outgoing) = &mut self.outgoing
            && outgoing.ended(id, is_taken, now)
        {
            self.counters.sent_again += u64::from(!is_taken);
        }
    }

    /// The program has computed the update of a permission.
    ///
    /// # Errors
    /// An update of another length than the model's.
    pub fn computed(&mut self, ticket: u64, values: Vec<f32>) -> Result<(), WorkerError> {
        let own = self.setup.values;
        if values.len() != own {
            return Err(WorkerError::Length { values: values.len(), own });
        }
        let (Some(current), Some(server)) = (self.current, self.server) else {
            self.counters.superseded += 1;
            return Ok(());
        };
        if current.ticket != ticket || self.machine.computed().is_none() {
            self.counters.superseded += 1;
            return Ok(());
        }
        let tag = Tag {
            worker_life: self.setup.life,
            server_life: current.server_life,
            ticket,
            version: current.version,
        };
        let flow = Flow {
            chunk_values: server.chunk_values,
            precision: server.precision,
            window: self.setup.window,
            rate_bps: self.setup.rate_bps,
        };
        self.outgoing = Some(Outgoing::new(tag, Arc::new(values), flow));
        Ok(())
    }

    /// Time has gone on.
    pub fn tick(&mut self, now: Duration) {
        if let Some(since) = self.alone_since.filter(|since| now >= *since + self.setup.patience) {
            self.alone_since = None;
            self.outputs.push_back(WorkerOutput::Failed(WorkerError::NoServer(now - since)));
        }
    }

    /// When something is due; `None` if nothing waits for time.
    pub fn wake_at(&self) -> Option<Duration> {
        let patience = self.alone_since.map(|since| since + self.setup.patience);
        let outgoing = self.outgoing.as_ref().filter(|_| self.is_welcome).and_then(Outgoing::wake_at);
        let lane = self.is_up.then(|| self.lane.wake_at()).flatten();
        [patience, outgoing, lane].into_iter().flatten().min()
    }

    /// What is to be done next; `None` until something is told, or time has gone on.
    pub fn next_output(&mut self, now: Duration) -> Option<WorkerOutput> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        if !self.is_up {
            return None;
        }
        let id = self.next_id;
        let (data, priority) = match self.lane.next(id, now) {
            Some(data) => (data, URGENT),
            None => {
                let outgoing = self.outgoing.as_mut().filter(|_| self.is_welcome)?;
                (outgoing.next(id, now)?, 0)
            }
        };
        self.next_id += 1;
        Some(WorkerOutput::Send { id, data, priority })
    }

    fn say(&mut self, body: Body) {
        let server_life = self.server.map_or(0, |server| server.life);
        self.lane.push(message_packet(self.setup.life, server_life, body));
    }

    fn hello(&mut self) {
        self.hellos += 1;
        self.is_welcome = false;
        let (ticket, ticket_of) =
            self.current.map_or((0, 0), |current| (current.ticket, current.server_life));
        let values = self.setup.values as u64;
        let ((training, taken), terms) = (self.trained, self.terms.message());
        let (number, model) = (self.hellos, self.setup.model);
        let hello = Hello { number, model, values, ticket, ticket_of, terms, training, taken };
        self.lane.push(message_packet(self.setup.life, 0, Body::Hello(hello)));
    }

    fn message(&mut self, message: Message) {
        let Message { worker_life, server_life, body } = message;
        if worker_life != self.setup.life {
            self.counters.other_life += 1;
            // The hello of a process before this one came late, and the server has taken that one in.
            if self.is_up && matches!(body, Some(Body::Welcome(_))) {
                self.hello();
            }
            return;
        }
        match body {
            Some(Body::Welcome(welcome)) => return self.welcome(server_life, &welcome),
            Some(Body::Refused(refused)) => {
                self.alone_since = None;
                return self.outputs.push_back(WorkerOutput::Failed(WorkerError::Refused(refused.why)));
            }
            Some(Body::Stopped(stopped)) => {
                self.alone_since = None;
                return self.outputs.push_back(WorkerOutput::Failed(WorkerError::Stopped(stopped.why)));
            }
            Some(Body::LeftOut(left_out)) => {
                (self.alone_since, self.is_over) = (None, true);
                return self.outputs.push_back(WorkerOutput::LeftOut { why: left_out.why });
            }
            // Of a server whose answer to the hello is on its way, nothing is asked.
            Some(Body::Unknown(_)) if self.is_welcome => return self.hello(),
            _ => {}
        }
        if !self.is_welcome || self.server.is_none_or(|server| server.life != server_life) {
            self.counters.other_life += 1;
            return;
        }
        match body {
            Some(Body::Permit(permit)) => self.permit(server_life, &permit),
            Some(Body::Pushed(pushed)) => self.pushed(pushed),
            Some(Body::NotPermitted(not)) if self.current.is_some_and(|own| own.ticket == not.ticket) => {
                self.start_again();
            }
            Some(Body::Over(over)) => {
                self.is_over = true;
                self.outputs.push_back(WorkerOutput::Over { version: over.version });
            }
            Some(Body::Waiting(Waiting { why })) => self.outputs.push_back(WorkerOutput::Waiting { why }),
            Some(Body::NotPermitted(_)) => self.counters.repeated += 1,
            _ => self.counters.malformed += 1,
        }
    }

    fn welcome(&mut self, life: u32, welcome: &Welcome) {
        // One that comes late may be of a connection that has ended.
        if !self.is_up || self.is_welcome || welcome.number != self.hellos {
            self.counters.repeated += 1;
            return;
        }
        let precision = if welcome.is_half { Precision::Half } else { Precision::Single };
        let chunk_values = welcome.chunk_values as usize;
        if chunk_values == 0 {
            self.counters.malformed += 1;
            return;
        }
        if self.server.is_none_or(|server| server.life != life) {
            self.newest = 0;
        }
        self.server = Some(Server { life, chunk_values, precision, training: welcome.training });
        (self.is_welcome, self.alone_since) = (true, None);
        let arrived = Arrived::try_from(welcome.arrived).unwrap_or(Arrived::Void);
        match (self.current, arrived) {
            (Some(_), Arrived::Open) => self.go_on(&welcome.missing),
            (Some(current), Arrived::Whole) => {
                let taken = Pushed { ticket: current.ticket, is_taken: true, refusal: String::new() };
                self.pushed(taken);
            }
            _ => self.start_again(),
        }
    }

    /// The connection is new, and the permission counts.
    fn go_on(&mut self, missing: &[Span]) {
        match (self.machine.reconnected(), &mut self.outgoing) {
            (Step::Pull { .. }, _) => self.pull(),
            (Step::Push { .. }, Some(outgoing)) => outgoing.go_on(missing),
            // It computes.
            _ => {}
        }
    }

    /// What was under way is void: the worker asks.
    fn start_again(&mut self) {
        self.machine.start();
        (self.current, self.incoming, self.outgoing) = (None, None, None);
        self.say(Body::Request(Request {}));
    }

    fn permit(&mut self, server_life: u32, permit: &Permit) {
        let &Permit { ticket, iteration, batch } = permit;
        // A permission is older than one that it is followed by. One of a connection that has ended may come
        // when what it permitted is done.
        if ticket <= self.newest || self.machine.permitted(iteration, batch).is_none() {
            self.counters.repeated += 1;
            return;
        }
        self.newest = ticket;
        self.current = Some(Current { ticket, server_life, iteration, pulls: 0, version: 0 });
        (self.incoming, self.outgoing) = (None, None);
        self.pull();
    }

    fn pull(&mut self) {
        let Some(current) = &mut self.current else { return };
        current.pulls += 1;
        let mut pull = Pull { ticket: current.ticket, attempt: current.pulls, ..Pull::default() };
        if let Some(incoming) = &self.incoming {
            (pull.goes_on, pull.missing) = (true, incoming.missing());
        }
        self.say(Body::Pull(pull));
    }

    fn chunk(&mut self, tag: Tag, number: u32, values: &[f32]) {
        let Some(server) = self.server.filter(|server| server.life == tag.server_life) else {
            self.counters.other_life += 1;
            return;
        };
        if tag.worker_life != self.setup.life {
            self.counters.other_life += 1;
            return;
        }
        let is_pulling = matches!(self.machine.reconnected(), Step::Pull { .. });
        let is_current = self.current.is_some_and(|current| current.ticket == tag.ticket);
        if !is_pulling || !is_current {
            self.counters.repeated += 1;
            return;
        }
        let new = || Incoming::new(tag, self.setup.values, server.chunk_values);
        let incoming = self.incoming.get_or_insert_with(new);
        // A permission has one version.
        if incoming.tag != tag {
            self.counters.malformed += 1;
            return;
        }
        match incoming.take(number, values) {
            Took::New => {}
            Took::Repeated => self.counters.repeated += 1,
            Took::Wrong => self.counters.malformed += 1,
        }
        if incoming.is_whole() {
            self.pulled(tag.version);
        }
    }

    fn pulled(&mut self, version: u64) {
        let (Some(current), Some(server)) = (&mut self.current, self.server) else { return };
        let Some(incoming) = self.incoming.take() else { return };
        (current.version, self.version) = (version, version);
        let (ticket, model) = (current.ticket, Arc::new(incoming.into_values()));
        if let Some(Step::Compute { iteration, batch }) = self.machine.pulled() {
            let Server { chunk_values, precision, .. } = server;
            let start = Start { ticket, iteration, batch, version, model, chunk_values, precision };
            self.outputs.push_back(WorkerOutput::Compute(start));
        }
    }

    /// The server has said what became of a push.
    fn pushed(&mut self, pushed: Pushed) {
        let is_pushing = matches!(self.machine.reconnected(), Step::Push { .. });
        let Some(current) = self.current.filter(|own| own.ticket == pushed.ticket && is_pushing) else {
            self.counters.repeated += 1;
            return;
        };
        let iteration = current.iteration;
        if pushed.is_taken {
            self.trained = (self.server.map_or(0, |server| server.training), self.trained.1 + 1);
            let refusal = Some(pushed.refusal).filter(|why| !why.is_empty());
            self.outputs.push_back(WorkerOutput::Pushed { iteration, refusal });
        } else {
            self.counters.unasked += 1;
        }
        (self.current, self.outgoing) = (None, None);
        let taken = if pushed.is_taken { Taken::Held } else { Taken::Unasked };
        if self.machine.pushed(iteration, taken).is_some() {
            self.say(Body::Request(Request {}));
        }
    }
}
