//! The server's side: takes updates, and sends the model to whom it lets pull.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_order::{Refusal, WorkerNo};

use crate::chunk::{Precision, Tag};
use crate::counters::ServerCounters;
use crate::incoming::{Incoming, Took, spans};
use crate::lane::Lane;
use crate::message::{
    Arrived, Body, Hello, Message, NotPermitted, Over, Permit, Pull, Pushed, Refused, Span, Unknown, Welcome,
    message_packet,
};
use crate::outgoing::{Flow, Outgoing};
use crate::packet::{Packet, decode};
use crate::sequencer::{Applied, Decision, Sequencer};

/// Messages overtake chunks, and chunks leave in their order.
const URGENT: i32 = i32::MAX;

/// What a server is told.
#[derive(Debug, Clone)]
pub struct ServerSetup {
    /// Its life: another one at each start, and never 0.
    pub life: u32,
    /// A fingerprint of the model.
    pub model: u64,
    /// Values of a chunk; at least 1.
    pub chunk_values: usize,
    /// How values travel.
    pub precision: Precision,
    /// Chunks under way to each worker at most.
    pub window: usize,
    /// By worker, the rate at which the model is sent to it, in bit/s; no limit unless told. There are as many
    /// workers as entries.
    pub rates_bps: Vec<Option<f64>>,
    /// It begins when all workers are there, or with those that are after this time.
    pub gather: Duration,
    /// A worker without a connection for so long takes no part any more.
    pub absence: Duration,
    /// The training is over when all that take part have done so many iterations; never unless told.
    pub iterations: Option<u64>,
}

/// What a server has its host do, or tells it.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerOutput {
    /// Send a packet; tell how it ended by [`ServerAgent::ended`].
    Send {
        /// To whom.
        to: WorkerNo,
        /// What it is called.
        id: u64,
        /// The packet.
        data: Bytes,
        /// What has more leaves first.
        priority: i32,
    },
    /// A worker, or another life of it, takes part from now on.
    Joined {
        /// Which.
        worker: WorkerNo,
    },
    /// A worker was not taken in.
    NotTakenIn {
        /// Which.
        worker: WorkerNo,
        /// Why.
        why: String,
    },
    /// An update has arrived whole.
    Pushed {
        /// Whose.
        worker: WorkerNo,
        /// Of which iteration.
        iteration: u64,
        /// The version that it was computed from.
        base: u64,
        /// Its values.
        values: Arc<Vec<f32>>,
        /// What is wrong with them, if something is.
        refusal: Option<Refusal>,
    },
    /// The model has a new version.
    Applied(Applied),
    /// An update was dropped in its turn, as its values were refused.
    Discarded {
        /// Whose.
        worker: WorkerNo,
        /// Of which iteration.
        iteration: u64,
        /// Why.
        refusal: Refusal,
    },
    /// A worker takes no part any more: nothing was heard of it for too long. It may come back.
    Gone {
        /// Which.
        worker: WorkerNo,
    },
    /// A worker has pulled a version for an iteration.
    Pulls {
        /// Which.
        worker: WorkerNo,
        /// The version.
        version: u64,
    },
}

#[derive(Debug, Clone, Copy)]
struct Ticket {
    number: u64,
    iteration: u64,
}

/// What a server knows of a worker's process.
#[derive(Debug, Clone, Default)]
struct Link {
    is_up: bool,
    /// Since when there is no connection, if there was one.
    down_since: Option<Duration>,
    life: Option<u32>,
    lane: Lane,
    ticket: Option<Ticket>,
    /// The last pull of the ticket.
    attempt: u32,
    /// The version that was pulled last.
    base: u64,
    /// The ticket whose update arrived last.
    arrived: Option<u64>,
    incoming: Option<Incoming>,
    outgoing: Option<Outgoing>,
    /// Whether it has said hello on this connection, and whether it was told of the end since.
    is_met: bool,
    is_told: bool,
}

impl Link {
    /// What the worker was doing is void.
    fn forget(&mut self) {
        (self.ticket, self.attempt, self.incoming, self.outgoing) = (None, 0, None, None);
    }
}

/// The server of a sequencer `S` on connections to its workers.
#[derive(Debug, Clone)]
pub struct ServerAgent<S> {
    setup: ServerSetup,
    sequencer: S,
    links: Vec<Link>,
    /// The model as it is, once somebody has pulled it.
    model: Option<(u64, Arc<Vec<f32>>)>,
    next_ticket: u64,
    next_id: u64,
    /// Those that asked before all were there; none once it has begun.
    gathering: Option<BTreeSet<WorkerNo>>,
    is_closing: bool,
    outputs: VecDeque<ServerOutput>,
    counters: ServerCounters,
}

impl<S: Sequencer> ServerAgent<S> {
    /// A server without connections yet, at time 0.
    pub fn new(setup: ServerSetup, sequencer: S) -> Self {
        ServerAgent {
            links: vec![Link::default(); setup.rates_bps.len()],
            sequencer,
            model: None,
            // No permission of another life has its number: what was computed for one is for no other.
            next_ticket: u64::from(setup.life) << 32 | 1,
            next_id: 0,
            gathering: Some(BTreeSet::new()),
            is_closing: false,
            outputs: VecDeque::new(),
            counters: ServerCounters::default(),
            setup,
        }
    }

    /// What decides the order.
    pub fn sequencer(&self) -> &S {
        &self.sequencer
    }

    /// What was dropped, by reason.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// Whether the training is over, and all that are connected know.
    pub fn is_over(&self) -> bool {
        let knows = |link: &Link| !link.is_up || link.life.is_none() || link.is_told && link.lane.is_empty();
        self.is_closing
            && self.workers().all(|who| self.sequencer.is_away(who))
            && self.links.iter().all(knows)
    }

    /// Whether nobody takes part.
    pub fn is_idle(&self) -> bool {
        self.workers().all(|who| self.sequencer.is_away(who))
    }

    /// Whether the training is over for the server; some may not know.
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// The model as it is.
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

    /// A connection to a worker is up; one before has ended.
    pub fn up(&mut self, worker: WorkerNo, now: Duration) {
        self.down(worker, now);
        if let Some(link) = self.links.get_mut(worker.index()) {
            (link.is_up, link.down_since) = (true, None);
        }
    }

    /// The connection to a worker has ended.
    pub fn down(&mut self, worker: WorkerNo, now: Duration) {
        let Some(link) = self.links.get_mut(worker.index()) else { return };
        (link.lane, link.is_met, link.is_told) = (Lane::default(), false, false);
        if let Some(outgoing) = &mut link.outgoing {
            outgoing.stop();
        }
        if std::mem::take(&mut link.is_up) {
            link.down_since = Some(now);
        }
    }

    /// A packet has come from a worker.
    pub fn received(&mut self, worker: WorkerNo, data: &Bytes, now: Duration) {
        if worker.index() >= self.links.len() {
            self.counters.malformed += 1;
            return;
        }
        match decode(data) {
            Err(_) => self.counters.malformed += 1,
            Ok(Packet::Chunk { tag, number, values }) => self.chunk(worker, tag, number, &values, now),
            Ok(Packet::Message(message)) => self.message(worker, message, now),
        }
        self.settle(now);
    }

    /// A packet has ended: the other side has it, or that is not known.
    pub fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        let worker = (id % self.links.len().max(1) as u64) as usize;
        let Some(link) = self.links.get_mut(worker) else { return };
        if !link.lane.ended(id, is_taken, now)
            && let Some(outgoing) = &mut link.outgoing
        {
            outgoing.ended(id, is_taken, now);
        }
    }

    /// Time has gone on.
    pub fn tick(&mut self, now: Duration) {
        for worker in self.workers() {
            let link = &mut self.links[worker.index()];
            if link.down_since.is_some_and(|since| now >= since + self.setup.absence) {
                link.down_since = None;
                if !self.sequencer.is_away(worker) {
                    link.forget();
                    self.counters.absent += 1;
                    self.sequencer.leave(worker, now);
                    self.outputs.push_back(ServerOutput::Gone { worker });
                }
            }
        }
        self.sequencer.tick(now);
        self.settle(now);
    }

    /// When something is due; `None` if nothing waits for time.
    pub fn wake_at(&self) -> Option<Duration> {
        let links = self.links.iter().filter(|link| link.is_up);
        let sends = links.flat_map(|link| {
            let outgoing = link.outgoing.as_ref().and_then(Outgoing::wake_at);
            [link.lane.wake_at(), outgoing].into_iter().flatten()
        });
        let absent = self.links.iter().filter_map(|link| link.down_since.map(|at| at + self.setup.absence));
        let asked = self.gathering.as_ref().filter(|asked| !asked.is_empty());
        let gather = asked.map(|_| self.setup.gather);
        sends.chain(absent).chain(gather).chain(self.sequencer.wake_at()).min()
    }

    /// What is to be done next; `None` until something is told, or time has gone on.
    pub fn next_output(&mut self, now: Duration) -> Option<ServerOutput> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
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
            return Some(ServerOutput::Send { to: WorkerNo(to as u32), id, data, priority });
        }
        None
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

    fn say(&mut self, worker: WorkerNo, life: u32, body: Body) {
        let link = &mut self.links[worker.index()];
        if link.is_up {
            link.lane.push(message_packet(life, self.setup.life, body));
        }
    }

    fn message(&mut self, worker: WorkerNo, message: Message, now: Duration) {
        let Message { worker_life, server_life, body } = message;
        if let Some(Body::Hello(hello)) = body {
            return self.hello(worker, worker_life, &hello, now);
        }
        if self.links[worker.index()].life != Some(worker_life) || server_life != self.setup.life {
            self.counters.other_life += 1;
            return self.say(worker, worker_life, Body::Unknown(Unknown {}));
        }
        match body {
            Some(Body::Request(_)) => self.request(worker, now),
            Some(Body::Pull(pull)) => self.pull(worker, worker_life, &pull, now),
            _ => self.counters.malformed += 1,
        }
    }

    fn hello(&mut self, worker: WorkerNo, life: u32, hello: &Hello, now: Duration) {
        let own = self.sequencer.values().len() as u64;
        if (hello.model, hello.values) != (self.setup.model, own) {
            let why = format!(
                "it trains model {:016x} of {} values, and the server has {:016x} of {own}: start all with one \
                 model",
                hello.model, hello.values, self.setup.model
            );
            self.counters.other_model += 1;
            self.outputs.push_back(ServerOutput::NotTakenIn { worker, why: why.clone() });
            return self.say(worker, life, Body::Refused(Refused { why }));
        }
        let link = &mut self.links[worker.index()];
        (link.is_met, link.is_told) = (true, false);
        let is_new = link.life != Some(life);
        if is_new || self.sequencer.is_away(worker) && !self.is_closing {
            link.forget();
            (link.life, link.arrived) = (Some(life), link.arrived.filter(|_| !is_new));
            if !self.is_closing {
                self.sequencer.join(worker, now);
                self.outputs.push_back(ServerOutput::Joined { worker });
            }
        }
        let (arrived, missing) = self.standing(worker, hello);
        let welcome = Welcome {
            number: hello.number,
            chunk_values: self.setup.chunk_values as u32,
            is_half: self.setup.precision == Precision::Half,
            arrived: arrived.into(),
            missing,
        };
        self.say(worker, life, Body::Welcome(welcome));
    }

    /// What became of the permission that a hello names.
    fn standing(&self, worker: WorkerNo, hello: &Hello) -> (Arrived, Vec<Span>) {
        let link = &self.links[worker.index()];
        if hello.ticket_of != self.setup.life || hello.ticket == 0 {
            return (Arrived::Void, Vec::new());
        }
        if link.ticket.is_some_and(|ticket| ticket.number == hello.ticket) {
            let chunks = self.sequencer.values().len().div_ceil(self.setup.chunk_values) as u32;
            let missing = link.incoming.as_ref().map_or_else(|| spans(0..chunks), Incoming::missing);
            return (Arrived::Open, missing);
        }
        let is_whole = link.arrived == Some(hello.ticket);
        (if is_whole { Arrived::Whole } else { Arrived::Void }, Vec::new())
    }

    fn request(&mut self, worker: WorkerNo, now: Duration) {
        if self.is_closing && !self.sequencer.is_working(worker) {
            return;
        }
        match &mut self.gathering {
            Some(asked) => drop(asked.insert(worker)),
            None => {
                if self.sequencer.is_away(worker) {
                    self.links[worker.index()].forget();
                    self.outputs.push_back(ServerOutput::Joined { worker });
                }
                self.sequencer.request(worker, now);
            }
        }
    }

    fn pull(&mut self, worker: WorkerNo, life: u32, pull: &Pull, now: Duration) {
        let link = &mut self.links[worker.index()];
        let ticket = pull.ticket;
        if link.ticket.is_none_or(|own| own.number != ticket) {
            self.counters.not_permitted += 1;
            return self.say(worker, life, Body::NotPermitted(NotPermitted { ticket }));
        }
        if pull.attempt <= link.attempt {
            self.counters.pulls_repeated += 1;
            return;
        }
        link.attempt = pull.attempt;
        // A permission has one version: what is on its way from a connection before may still arrive.
        if let Some(outgoing) = &mut link.outgoing {
            let all = [Span { first: 0, count: u32::MAX }];
            return outgoing.go_on(if pull.goes_on { &pull.missing } else { &all });
        }
        let Some(version) = self.sequencer.pull(worker, now) else {
            self.counters.not_permitted += 1;
            return self.say(worker, life, Body::NotPermitted(NotPermitted { ticket }));
        };
        let tag = Tag { worker_life: life, server_life: self.setup.life, ticket, version };
        let outgoing = Outgoing::new(tag, self.model(), self.flow(worker));
        let link = &mut self.links[worker.index()];
        (link.base, link.outgoing) = (version, Some(outgoing));
        self.outputs.push_back(ServerOutput::Pulls { worker, version });
    }

    fn chunk(&mut self, worker: WorkerNo, tag: Tag, number: u32, values: &[f32], now: Duration) {
        let link = &mut self.links[worker.index()];
        if link.life != Some(tag.worker_life) || tag.server_life != self.setup.life {
            self.counters.other_life += 1;
            return self.say(worker, tag.worker_life, Body::Unknown(Unknown {}));
        }
        if link.ticket.is_none_or(|own| own.number != tag.ticket) || link.attempt == 0 {
            let is_taken = link.arrived == Some(tag.ticket);
            match is_taken {
                true => self.counters.repeated += 1,
                false => self.counters.unasked += 1,
            }
            let pushed = Pushed { ticket: tag.ticket, is_taken, refusal: String::new() };
            return self.say(worker, tag.worker_life, Body::Pushed(pushed));
        }
        if tag.version != link.base {
            self.counters.malformed += 1;
            return;
        }
        let length = self.sequencer.values().len();
        let new = || Incoming::new(tag, length, self.setup.chunk_values);
        let incoming = link.incoming.get_or_insert_with(new);
        match incoming.take(number, values) {
            Took::New => {}
            Took::Repeated => self.counters.repeated += 1,
            Took::Wrong => self.counters.malformed += 1,
        }
        if incoming.is_whole() {
            self.whole(worker, tag, now);
        }
    }

    fn whole(&mut self, worker: WorkerNo, tag: Tag, now: Duration) {
        let link = &mut self.links[worker.index()];
        let (Some(ticket), Some(incoming)) = (link.ticket, link.incoming.take()) else { return };
        link.forget();
        link.arrived = Some(ticket.number);
        let (iteration, base) = (ticket.iteration, tag.version);
        let values = Arc::new(incoming.into_values());
        let verdict = self.sequencer.push(worker, iteration, values.to_vec(), now);
        let refusal = verdict.refusal;
        if verdict.is_taken {
            self.outputs.push_back(ServerOutput::Pushed { worker, iteration, base, values, refusal });
        } else {
            self.counters.unasked += 1;
        }
        let refusal = refusal.map_or(String::new(), |refusal| refusal.to_string());
        let pushed = Pushed { ticket: ticket.number, is_taken: verdict.is_taken, refusal };
        self.say(worker, tag.worker_life, Body::Pushed(pushed));
    }

    fn settle(&mut self, now: Duration) {
        self.begin(now);
        self.decisions();
        self.close(now);
    }

    fn begin(&mut self, now: Duration) {
        let all = self.workers().all(|worker| !self.sequencer.is_away(worker));
        if let Some(asked) = &self.gathering
            && (all && asked.len() == self.links.len() || now >= self.setup.gather && !asked.is_empty())
        {
            let asked = self.gathering.take().unwrap_or_default();
            asked.into_iter().for_each(|worker| self.sequencer.request(worker, now));
        }
    }

    fn decisions(&mut self) {
        while let Some(decision) = self.sequencer.next_decision() {
            match decision {
                Decision::Permit { who, iteration, batch } => self.permit(who, iteration, batch),
                Decision::Applied(applied) => self.outputs.push_back(ServerOutput::Applied(applied)),
                Decision::Discarded { who: worker, iteration, refusal } => {
                    self.outputs.push_back(ServerOutput::Discarded { worker, iteration, refusal });
                }
                Decision::Gone { who: worker } => {
                    self.links[worker.index()].forget();
                    self.outputs.push_back(ServerOutput::Gone { worker });
                }
            }
        }
    }

    fn permit(&mut self, worker: WorkerNo, iteration: u64, batch: u32) {
        let link = &mut self.links[worker.index()];
        if link.ticket.is_none_or(|ticket| ticket.iteration != iteration) {
            link.forget();
            link.ticket = Some(Ticket { number: self.next_ticket, iteration });
            self.next_ticket += 1;
        }
        let (Some(ticket), Some(life)) = (link.ticket, link.life) else { return };
        self.say(worker, life, Body::Permit(Permit { ticket: ticket.number, iteration, batch }));
    }

    /// When all have done their iterations, updates under way are taken and applied; nobody pulls any more.
    fn close(&mut self, now: Duration) {
        let is_over = |iterations| self.sequencer.have_done(iterations);
        self.is_closing |= self.gathering.is_none() && self.setup.iterations.is_some_and(is_over);
        if !self.is_closing {
            return;
        }
        for worker in self.workers() {
            if self.sequencer.is_working(worker) {
                continue;
            }
            let link = &mut self.links[worker.index()];
            if !self.sequencer.is_away(worker) {
                link.forget();
                self.sequencer.leave(worker, now);
            }
            if let (false, true, Some(life)) = (link.is_told, link.is_met, link.life) {
                link.is_told = true;
                self.say(worker, life, Body::Over(Over { version: self.sequencer.version() }));
            }
        }
        self.decisions();
    }
}
