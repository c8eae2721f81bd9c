//! A worker's side: requests an iteration, pulls the model, has an update computed, pushes it.

mod messages;
mod report;
mod values;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Lane, Machine, Output, PeerNo, Seen};
use inart_protocol_ps::Worker;
use inart_terms::Terms;

use crate::chunk::{Precision, Tag};
use crate::counters::WorkerCounters;
use crate::incoming::Incoming;
use crate::outgoing::{Flow, Outgoing};
use crate::packet::{Packet, decode};
pub use report::{Computed, Start, WorkerError, WorkerReport, WorkerSetup};

/// Messages overtake chunks.
const URGENT: i32 = i32::MAX;
/// The worker's only connection.
const SERVER: PeerNo = PeerNo(0);

/// Settings from the server.
#[derive(Debug, Clone, Copy)]
struct Server {
    incarnation: u32,
    chunk_values: usize,
    precision: Precision,
    training: u64,
}

/// Activity under a permission.
#[derive(Debug, Clone, Copy)]
struct Current {
    ticket: u64,
    server_incarnation: u32,
    iteration: u64,
    pulls: u32,
    version: u64,
}

/// One worker, on a connection to its server.
#[derive(Debug, Clone)]
pub struct WorkerAgent {
    setup: WorkerSetup,
    terms: Terms,
    /// The training that accepted its last update, and the number of its accepted updates; 0 for none.
    trained: (u64, u64),
    /// Newest version that was pulled.
    version: u64,
    machine: Worker,
    is_up: bool,
    /// Start of the time without a server.
    alone_since: Option<Duration>,
    /// Hellos so far, and whether the last one was answered.
    hellos: u64,
    is_welcome: bool,
    server: Option<Server>,
    current: Option<Current>,
    /// Newest permission of this incarnation of the server; 0 for none.
    newest: u64,
    incoming: Option<Incoming>,
    outgoing: Option<Outgoing>,
    lane: Lane,
    next_id: u64,
    is_over: bool,
    /// Whether the process ends after its last report.
    does_end: bool,
    outputs: VecDeque<WorkerReport>,
    counters: WorkerCounters,
}

impl WorkerAgent {
    /// Creates a worker without a connection, at time 0.
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
            does_end: false,
            outputs: VecDeque::new(),
            counters: WorkerCounters::default(),
        }
    }

    /// Sets the settings that the server must share.
    #[must_use]
    pub fn with_terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// Returns the drop counters.
    pub fn counters(&self) -> WorkerCounters {
        self.counters
    }

    /// Returns the newest version that was pulled.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns whether the server is connected.
    pub fn is_up(&self) -> bool {
        self.is_up
    }

    /// Returns whether the training is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the program's update for a permission.
    ///
    /// # Errors
    /// The update's length is not the model's.
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
            worker_incarnation: self.setup.incarnation,
            server_incarnation: current.server_incarnation,
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

    /// Reports to the program. The worker ends with the last report.
    fn report(&mut self, news: WorkerReport) {
        use WorkerReport::{Failed, LeftOut, Over};
        self.does_end |= matches!(news, Over { .. } | LeftOut { .. } | Failed(_));
        self.outputs.push_back(news);
    }
}

impl Machine for WorkerAgent {
    type Command = Computed;
    type Report = WorkerReport;
    type Done = ();

    fn up(&mut self, server: PeerNo, now: Duration) {
        self.down(server, now);
        self.is_up = true;
        self.hello();
    }

    fn down(&mut self, _server: PeerNo, now: Duration) {
        (self.is_up, self.is_welcome, self.lane) = (false, false, Lane::default());
        self.alone_since = self.alone_since.or(Some(now));
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.stop();
        }
    }

    fn received(&mut self, _server: PeerNo, data: &Bytes, _seen: Option<Seen>, _now: Duration) {
        match decode(data) {
            Err(_) => self.counters.malformed += 1,
            Ok(Packet::Chunk { tag, number, values }) => self.chunk(tag, number, &values),
            Ok(Packet::Message(message)) => self.message(message),
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        if !self.lane.ended(id, is_taken, now)
            && let Some(outgoing) = &mut self.outgoing
            && outgoing.ended(id, is_taken, now)
        {
            self.counters.sent_again += u64::from(!is_taken);
        }
    }

    fn command(&mut self, Computed { ticket, update }: Computed, _now: Duration) {
        if let Err(error) = self.computed(ticket, update) {
            self.report(WorkerReport::Failed(error));
        }
    }

    /// Ends silently: the server detects the end of the connection.
    fn stop(&mut self, _why: &str, _now: Duration) {
        self.does_end = true;
    }

    fn tick(&mut self, now: Duration) {
        if let Some(since) = self.alone_since.filter(|since| now >= *since + self.setup.patience) {
            self.alone_since = None;
            self.report(WorkerReport::Failed(WorkerError::NoServer(now - since)));
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        let patience = self.alone_since.map(|since| since + self.setup.patience);
        let outgoing = self.outgoing.as_ref().filter(|_| self.is_welcome).and_then(Outgoing::wake_at);
        let lane = self.is_up.then(|| self.lane.wake_at()).flatten();
        [patience, outgoing, lane].into_iter().flatten().min()
    }

    fn next(&mut self, now: Duration) -> Option<Output<WorkerReport>> {
        if let Some(news) = self.outputs.pop_front() {
            return Some(Output::Report(news));
        }
        if std::mem::take(&mut self.does_end) {
            return Some(Output::Over);
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
        Some(Output::Send { to: SERVER, id, data, priority })
    }

    fn may_end(&self, _server: PeerNo) -> bool {
        self.is_over
    }
}
