//! A small training, and its state.

use std::fmt::{self, Write as _};
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo};
use inart_ps_agent::{
    Checkpoint, Precision, Sequencer, ServerAgent, ServerReport, ServerSetup, WorkerAgent, WorkerReport,
    WorkerSetup, as_received, decode,
};

use super::key::key;
use super::mistakes::Mistake;
use super::order::Mistaken;
use super::truth::Truth;
use super::wire::Wire;
use crate::campaign::sequencer::Either;
use crate::campaign::trial::{Rule, Trial};

const MODEL: u64 = 5;
/// Time after which a failed packet may leave again.
const PAUSE: Duration = Duration::from_secs(1);
const ABSENCE: Duration = Duration::from_secs(100);
/// Longer than any wait.
pub const LONG: Duration = Duration::from_secs(1000);

/// Number of faults of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Packets that fail, whether they arrive or not.
    pub failures: u8,
    /// Connections that break.
    pub cuts: u8,
    /// Restarts of the server, and of workers.
    pub server: u8,
    pub worker: u8,
    /// Workers that fail permanently.
    pub gone: u8,
    /// Pauses that are longer than any wait.
    pub long: u8,
    /// Updates with a NaN.
    pub not_finite: u8,
}

pub const NOTHING: Budget =
    Budget { failures: 0, cuts: 0, server: 0, worker: 0, gone: 0, long: 0, not_finite: 0 };

/// A training.
#[derive(Debug, Clone)]
pub struct World {
    pub workers: usize,
    pub rule: Rule,
    pub iterations: u64,
    /// Values of the model; a chunk has one.
    pub values: usize,
    pub window: usize,
    pub precision: Precision,
    /// Whether the server removes workers that it has awaited for too long.
    pub is_patient: bool,
    pub budget: Budget,
    pub mistake: Mistake,
}

#[derive(Clone)]
pub struct Packet {
    pub to_server: bool,
    pub worker: usize,
    /// Number of the connection.
    pub connection: u32,
    pub id: u64,
    pub data: Bytes,
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Packet { to_server, worker, connection, data, .. } = self;
        let way = if *to_server { "from" } else { "to" };
        write!(f, "{way} {worker} on {connection}: {:?}", decode(data))
    }
}

#[derive(Debug, Clone)]
pub struct Host {
    /// `None` after a failure.
    pub agent: Option<WorkerAgent>,
    pub incarnations: u32,
    pub connection: Option<u32>,
    pub connections: u32,
    /// Permission, version and values of the current computation.
    pub computing: Option<(u64, u64, Vec<f32>)>,
    pub computed: u32,
    pub wire: Wire,
}

/// State of a training.
#[derive(Debug, Clone)]
pub struct State {
    pub server: ServerAgent<Mistaken>,
    pub server_incarnations: u32,
    pub hosts: Vec<Host>,
    pub net: Vec<Packet>,
    pub kept: Checkpoint,
    pub truth: Truth,
    pub now: Duration,
    pub budget: Budget,
}

/// Returns the first value of updates: the others are odd multiples.
fn update(world: &World, worker: usize, computed: u32) -> Vec<f32> {
    let first = f32::powi(2.0, (computed as usize * world.workers + worker) as i32);
    // Float16 rounds this up, and its range ends not far beyond.
    let part = if world.precision == Precision::Half { 1.0 + 1.5 / 1024.0 } else { 1.0 };
    let beyond = if world.precision == Precision::Half { 1e5 } else { 3.0 };
    (0..world.values).map(|at| first * if at == 0 { part } else { beyond + 2.0 * at as f32 }).collect()
}

impl World {
    pub fn server(&self, incarnation: u32, kept: Checkpoint, now: Duration) -> ServerAgent<Mistaken> {
        let setup = ServerSetup {
            incarnation,
            model: MODEL,
            chunk_values: 1,
            precision: self.precision,
            window: self.window,
            rates_bps: vec![None; self.workers],
            gather: now + ABSENCE,
            absence: ABSENCE,
            iterations: Some(self.iterations),
        };
        let trial = Trial { workers: self.workers, rule: self.rule, ..Trial::random(1) };
        let order = Either::new(&trial, self.is_patient.then_some(ABSENCE), MODEL, kept);
        ServerAgent::new(setup, Mistaken::new(order, self.mistake, self.workers))
    }

    pub fn worker(&self, incarnation: u32) -> WorkerAgent {
        let (values, window) = (self.values, self.window);
        let setup =
            WorkerSetup { incarnation, model: MODEL, values, window, rate_bps: None, patience: 100 * LONG };
        WorkerAgent::new(setup)
    }

    pub fn arriving(&self, values: &[f32]) -> Vec<f32> {
        as_received(values, 1, self.precision)
    }

    /// Returns the state in which all processes have started, without connections.
    pub fn first(&self) -> State {
        let (n, values) = (self.workers, vec![0.0; self.values]);
        let kept = Checkpoint { version: 0, done: vec![0; n], members: vec![false; n], values };
        let host = |worker: usize| Host {
            agent: Some(self.worker(self.incarnation(worker, 1))),
            incarnations: 1,
            connection: None,
            connections: 0,
            computing: None,
            computed: 0,
            wire: Wire::default(),
        };
        State {
            server: self.server(1, kept.clone(), Duration::ZERO),
            server_incarnations: 1,
            hosts: (0..self.workers).map(host).collect(),
            net: Vec::new(),
            truth: Truth::new(self.workers, self.rule, kept.values.clone(), self.counts()),
            kept,
            now: Duration::ZERO,
            budget: self.budget,
        }
    }

    /// Returns whether each worker does all its iterations, each once. A worker that left rejoins where
    /// others are (R7).
    fn counts(&self) -> bool {
        self.budget.long == 0
    }

    pub fn incarnation(&self, worker: usize, incarnations: u32) -> u32 {
        let incarnations = if self.mistake == Mistake::WorkersIncarnation { 1 } else { incarnations };
        10 * (worker as u32 + 1) + incarnations
    }
}

impl State {
    /// Returns a key that is equal for states with equal continuations.
    pub fn key(&self) -> u64 {
        let mut packets: Vec<_> = self.net.iter().collect();
        packets.sort_by_key(|packet| (packet.to_server, packet.worker, packet.connection, &packet.data));
        let mut text = String::with_capacity(1 << 13);
        let Self { server, hosts, kept, truth, now, budget, .. } = self;
        write!(text, "{server:?} {hosts:?} {kept:?} {truth:?} {now:?} {budget:?}").unwrap();
        for Packet { to_server, worker, connection, data, .. } in packets {
            write!(text, " {to_server} {worker} {connection} {data:?}").unwrap();
        }
        key(&text)
    }

    /// Carries out the machines' outputs.
    pub fn settle(&mut self, world: &World) -> Result<(), String> {
        while let Some(output) = self.server.next(self.now + PAUSE) {
            self.of_server(world, output)?;
        }
        for worker in 0..world.workers {
            while let Some(output) =
                self.hosts[worker].agent.as_mut().and_then(|agent| agent.next(self.now + PAUSE))
            {
                self.of_worker(world, worker, output)?;
            }
        }
        Ok(())
    }

    fn of_server(&mut self, world: &World, output: ServerOutput) -> Result<(), String> {
        match output {
            Output::Send { to, id, data, .. } => {
                let newest = self.server.sequencer().values();
                match self.hosts[to.index()].wire.server_sends(data, world.mistake, newest) {
                    Some(data) => self.send(world, false, to.index(), id, data),
                    None => self.server.ended(id, true, self.now),
                }
                Ok(())
            }
            Output::Report(ServerReport::Pushed { worker, iteration, base, values, refusal }) => {
                self.truth.arrived(worker.index(), iteration, base, &values, refusal.is_some())
            }
            Output::Report(ServerReport::Applied(applied)) => {
                let sequencer = self.server.sequencer();
                let is_last = sequencer.version() == applied.version;
                self.truth.applied(&applied, is_last.then(|| sequencer.values()))?;
                if is_last {
                    self.kept = sequencer.kept();
                }
                Ok(())
            }
            Output::Report(ServerReport::Discarded { worker, iteration, .. }) => {
                self.truth.discarded(worker.index(), iteration)
            }
            Output::Report(ServerReport::Pulls { worker, version }) => {
                self.hosts[worker.index()].wire.base = version;
                Ok(())
            }
            Output::Report(ServerReport::Rejected { why, .. }) => Err(why),
            Output::Report(ServerReport::Joined { .. } | ServerReport::Gone { .. }) => Ok(()),
            Output::Over => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }

    fn of_worker(
        &mut self,
        world: &World,
        worker: usize,
        output: Output<WorkerReport>,
    ) -> Result<(), String> {
        match output {
            Output::Send { id, data, .. } => {
                let data = self.hosts[worker].wire.worker_sends(data, world.mistake);
                self.send(world, true, worker, id, data);
                Ok(())
            }
            Output::Report(WorkerReport::Compute(start)) => {
                self.truth.pulled(&start, |values| world.arriving(values))?;
                let host = &mut self.hosts[worker];
                let values = update(world, worker, host.computed);
                host.computed += 1;
                host.computing = Some((start.ticket, start.version, values));
                Ok(())
            }
            Output::Report(WorkerReport::Pushed { iteration, refusal }) => {
                self.truth.pushed(worker, iteration, refusal.is_some())
            }
            Output::Report(WorkerReport::Over { version }) => {
                let own = self.server.sequencer().version();
                if version > own { Err(format!("version {version} is the last of {own}")) } else { Ok(()) }
            }
            Output::Report(WorkerReport::Failed(error)) => Err(error.to_string()),
            Output::Over => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }

    fn send(&mut self, world: &World, to_server: bool, worker: usize, id: u64, data: Bytes) {
        let Some(connection) = self.hosts[worker].connection else { return };
        let packet = Packet { to_server, worker, connection, id, data };
        let is_message = packet.data[0] == 2;
        if world.mistake == Mistake::AllAtOnce && is_message {
            self.end(&packet, true);
        }
        self.net.push(packet);
    }

    pub fn arrive(&mut self, world: &World, packet: &Packet) {
        let host = &mut self.hosts[packet.worker];
        if packet.to_server {
            let data = host.wire.server_receives(&packet.data, world.mistake);
            self.server.received(number(packet.worker), &data, None, self.now);
        } else if let Some(agent) = &mut host.agent
            && let Some(data) = host.wire.worker_receives(&packet.data, world.mistake)
        {
            agent.received(SERVER, &data, None, self.now);
        }
    }

    pub fn end(&mut self, packet: &Packet, is_taken: bool) {
        let host = &mut self.hosts[packet.worker];
        if host.connection != Some(packet.connection) {
            return;
        }
        match (packet.to_server, &mut host.agent) {
            (true, Some(agent)) => agent.ended(packet.id, is_taken, self.now),
            (true, None) => {}
            (false, _) => self.server.ended(packet.id, is_taken, self.now),
        }
    }

    pub fn cut(&mut self, world: &World, worker: usize) {
        let host = &mut self.hosts[worker];
        if host.connection.take().is_none() {
            return;
        }
        if world.mistake != Mistake::NoDown {
            self.server.down(number(worker), self.now);
        }
        if let Some(agent) = &mut host.agent {
            agent.down(SERVER, self.now);
        }
    }

    pub fn is_live(&self, packet: &Packet) -> bool {
        self.hosts[packet.worker].connection == Some(packet.connection)
    }

    /// Checks a final state: the training is over, with its updates.
    pub fn check_end(&self, world: &World) -> Result<(), String> {
        let is_over = |host: &Host| host.agent.as_ref().is_none_or(WorkerAgent::is_over);
        if !self.hosts.iter().all(is_over) || !self.server.is_over() {
            return Err("no process proceeds".to_owned());
        }
        let faults = Budget { failures: 0, cuts: 0, not_finite: 0, ..world.budget };
        let nothing_is_lost = faults == NOTHING && matches!(world.rule, Rule::SyncModel(_));
        self.truth.ended(self.server.sequencer().values(), nothing_is_lost)?;
        let done = self.truth.done();
        let has_done = |(host, done): (&Host, &u64)| host.agent.is_none() || *done >= world.iterations;
        let is_counted = matches!(world.rule, Rule::SyncModel(_)) && world.counts();
        match is_counted && !self.hosts.iter().zip(done).all(has_done) {
            true => Err(format!("updates that were applied: {done:?}")),
            false => Ok(()),
        }
    }
}

type ServerOutput = Output<ServerReport, Result<(), String>>;

pub fn number(worker: usize) -> PeerNo {
    PeerNo(worker as u32)
}

/// The worker's only connection.
pub const SERVER: PeerNo = PeerNo(0);
