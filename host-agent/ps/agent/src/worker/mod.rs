//! A worker's side: asks, pulls the model, has an update computed, pushes it.

mod messages;
mod told;
mod values;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_order::Worker;
use inart_terms::Terms;

use crate::chunk::{Precision, Tag};
use crate::counters::WorkerCounters;
use crate::incoming::Incoming;
use crate::lane::Lane;
use crate::outgoing::{Flow, Outgoing};
use crate::packet::{Packet, decode};
pub use told::{Start, WorkerError, WorkerOutput, WorkerSetup};

/// Messages overtake chunks.
const URGENT: i32 = i32::MAX;

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
}
