//! A server and its workers in virtual time, on connections that fail, reorder and end.

mod odd;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo};
use inart_ps_agent::{
    Checkpoint, Sequencer, ServerAgent, ServerReport, ServerSetup, Training, WorkerAgent, WorkerError,
    WorkerReport, WorkerSetup, as_received,
};
use inart_terms::{Agreement, Terms};
use inart_virtual::Timeline;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::audit::{Audit, Seen};
use super::sequencer::Either;
use super::trial::{Odd, Rule, Trial};

/// The worker's only connection.
const SERVER: PeerNo = PeerNo(0);

const MODEL: u64 = 77;
const TRAINING: u64 = 78;
const LONGEST: Duration = Duration::from_secs(600);
const MOST_STEPS: u64 = 1_000_000;

#[derive(Debug, Clone)]
enum Event {
    /// Arrival of a packet, unless the process that it was for has ended.
    Arrives {
        to_server: bool,
        worker: usize,
        process: u32,
        data: Bytes,
    },
    /// End of a packet at its sender, if the connection still exists.
    Ends {
        of_server: bool,
        worker: usize,
        connection: u32,
        id: u64,
        is_taken: bool,
    },
    /// End of a computation.
    Computed {
        worker: usize,
        process: u32,
        ticket: u64,
        values: Vec<u32>,
    },
    Connects {
        worker: usize,
    },
    Cut {
        worker: usize,
    },
    Kill {
        worker: usize,
    },
    Starts {
        worker: usize,
    },
    KillServer,
    StartsServer,
}

type Server = ServerAgent<Either>;

struct World<'t> {
    trial: &'t Trial,
    random: ChaCha8Rng,
    now: Duration,
    events: Timeline<Event>,
    steps: u64,
    server: Option<Server>,
    server_process: u32,
    workers: Vec<Option<WorkerAgent>>,
    processes: Vec<u32>,
    /// By worker: the number of the connection, and whether it is up.
    connections: Vec<(u32, bool)>,
    kept: Checkpoint,
    /// The number of the server's training.
    training: u64,
    first: Vec<f32>,
    /// By worker: the training that accepted the last update of its current process; 0 for none.
    taken: Vec<u64>,
    /// Whether the server has ended the training, and which workers have ended with it.
    is_stopped: bool,
    stopped: Vec<bool>,
    /// Whether the worker with other settings has been corrected.
    is_corrected: bool,
    audit: Audit,
    /// Counters of ended incarnations of both sides.
    dropped: Seen,
}

/// Runs a trial to its end.
pub fn run(trial: &Trial) -> Seen {
    let mut random = ChaCha8Rng::seed_from_u64(trial.seed ^ 0x5eed);
    let first: Vec<f32> = (0..trial.values).map(|_| random.random_range(-1.0..1.0)).collect();
    let n = trial.workers;
    let mut world = World {
        trial,
        random,
        now: Duration::ZERO,
        events: Timeline::new(),
        steps: 0,
        server: None,
        server_process: 0,
        workers: vec![None; n],
        processes: vec![0; n],
        connections: vec![(0, false); n],
        kept: Checkpoint { version: 0, done: vec![0; n], members: vec![false; n], values: first.clone() },
        training: TRAINING,
        first: first.clone(),
        taken: vec![0; n],
        is_stopped: false,
        stopped: vec![false; n],
        is_corrected: false,
        audit: Audit::new(first),
        dropped: Seen::default(),
    };
    world.schedule();
    while !world.is_over() {
        world.step();
    }
    world.finish()
}

impl World<'_> {
    fn at(&mut self, at: Duration, event: Event) {
        self.events.at(at, event);
    }

    fn within(&mut self, from_ms: u64, to_ms: u64) -> Duration {
        self.now + Duration::from_millis(self.random.random_range(from_ms..to_ms))
    }

    fn schedule(&mut self) {
        self.at(Duration::ZERO, Event::StartsServer);
        for worker in 0..self.trial.workers {
            let at = self.within(0, 100);
            self.at(at, Event::Starts { worker });
        }
        for _ in 0..self.trial.cuts {
            let (at, worker) = (self.within(0, 3000), self.random.random_range(0..self.trial.workers));
            self.at(at, Event::Cut { worker });
        }
        for _ in 0..self.trial.kills {
            let (at, worker) = (self.within(100, 3000), self.random.random_range(0..self.trial.workers));
            self.at(at, Event::Kill { worker });
        }
        for _ in 0..self.trial.restarts {
            let at = self.within(100, 3000);
            self.at(at, Event::KillServer);
        }
    }

    fn is_over(&self) -> bool {
        assert!(self.now < LONGEST, "seed {}: the trial never ends: {:?}", self.trial.seed, self.trial);
        // No process crashes or starts that would need the notice of the end.
        let dies = |event: &Event| {
            use Event::{Kill, KillServer, Starts, StartsServer};
            matches!(event, KillServer | StartsServer | Kill { .. } | Starts { .. })
        };
        let is_fault_free = !self.events.events().any(dies);
        let mut all = self.workers.iter().zip(&self.stopped);
        let all = all.all(|(worker, stopped)| *stopped || worker.as_ref().is_some_and(WorkerAgent::is_over));
        is_fault_free && all && (self.is_stopped || self.server.as_ref().is_some_and(Server::is_over))
    }

    fn step(&mut self) {
        self.steps += 1;
        assert!(self.steps < MOST_STEPS, "seed {}: {:?} and on: {:?}", self.trial.seed, self.now, self.trial);
        let next = self.events.next_at();
        let server = self.server.as_ref().and_then(Server::wake_at);
        let workers = self.workers.iter().flatten().filter_map(WorkerAgent::wake_at);
        let wake = server.into_iter().chain(workers).min();
        if next.is_none_or(|next| wake.is_some_and(|wake| wake < next)) {
            let wake = wake.unwrap_or_else(|| {
                panic!(
                    "seed {}: nothing can happen: {:?} {:#?} {:#?}",
                    self.trial.seed, self.connections, self.server, self.workers
                )
            });
            self.now = self.now.max(wake);
            if let Some(server) = &mut self.server {
                server.tick(self.now);
            }
            self.workers.iter_mut().flatten().for_each(|worker| worker.tick(self.now));
        } else if let Some((at, event)) = self.events.take() {
            self.now = self.now.max(at);
            self.happen(event);
        }
        self.carry_out();
    }

    fn happen(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Arrives { to_server: true, worker, process, data } if process == self.server_process => {
                if let Some(server) = &mut self.server {
                    server.received(number(worker), &data, None, now);
                }
            }
            Event::Arrives { to_server: false, worker, process, data }
                if process == self.processes[worker] =>
            {
                if let Some(worker) = &mut self.workers[worker] {
                    worker.received(SERVER, &data, None, now);
                }
            }
            Event::Ends { of_server, worker, connection, id, is_taken }
                if self.connections[worker] == (connection, true) =>
            {
                match of_server {
                    true => self.server.iter_mut().for_each(|server| server.ended(id, is_taken, now)),
                    false => self.workers[worker].iter_mut().for_each(|agent| agent.ended(id, is_taken, now)),
                }
            }
            Event::Arrives { .. } | Event::Ends { .. } => {}
            Event::Computed { worker, process, ticket, values } => {
                if process == self.processes[worker]
                    && let Some(agent) = &mut self.workers[worker]
                {
                    let values = values.into_iter().map(f32::from_bits).collect();
                    agent.computed(ticket, values).unwrap();
                }
            }
            Event::Connects { worker } => self.connect(worker),
            Event::Cut { worker } => {
                if self.connections[worker].1 {
                    self.audit.seen.cuts += 1;
                    self.cut(worker);
                }
            }
            Event::Kill { worker } => self.kill(worker),
            Event::Starts { worker } => self.start(worker),
            Event::KillServer => self.kill_server(),
            Event::StartsServer => self.start_server(),
        }
    }

    fn connect(&mut self, worker: usize) {
        let (Some(server), Some(agent)) = (&mut self.server, &mut self.workers[worker]) else { return };
        if self.connections[worker].1 {
            return;
        }
        self.connections[worker] = (self.connections[worker].0 + 1, true);
        server.up(number(worker), self.now);
        agent.up(SERVER, self.now);
    }

    /// Cuts a connection: packets in flight may arrive, and their senders do not learn how they ended.
    fn cut(&mut self, worker: usize) {
        if !self.connections[worker].1 {
            return;
        }
        self.connections[worker].1 = false;
        let now = self.now;
        self.server.iter_mut().for_each(|server| server.down(number(worker), now));
        self.workers[worker].iter_mut().for_each(|agent| agent.down(SERVER, now));
        let at = self.within(1, 400);
        self.at(at, Event::Connects { worker });
    }

    fn kill(&mut self, worker: usize) {
        let Some(agent) = self.workers[worker].take() else { return };
        self.audit.seen.kills += 1;
        self.count_worker(&agent);
        self.processes[worker] += 1;
        self.cut(worker);
        // On an immediate restart, packets of the previous incarnation are still in flight.
        let longest = if self.random.random_bool(0.5) { 3 } else { 1500 };
        let at = self.within(1, longest);
        self.at(at, Event::Starts { worker });
    }

    fn start(&mut self, worker: usize) {
        if self.workers[worker].is_some() || self.stopped[worker] {
            return;
        }
        self.processes[worker] += 1;
        let setup = WorkerSetup {
            incarnation: 1000 * (worker as u32 + 1) + self.processes[worker],
            model: MODEL,
            values: self.trial.values,
            window: self.trial.window,
            rate_bps: self.trial.is_paced.then_some(50e3),
            patience: LONGEST,
        };
        let is_odd = self.trial.odd == Some(Odd::OtherTerms { worker }) && !self.is_corrected;
        let terms = Terms::new([("seed", if is_odd { "2" } else { "1" })]).unwrap();
        self.taken[worker] = 0;
        self.workers[worker] = Some(WorkerAgent::new(setup).with_terms(terms));
        let at = self.within(1, 20);
        self.at(at, Event::Connects { worker });
    }

    fn kill_server(&mut self) {
        let Some(server) = self.server.take() else { return };
        self.audit.seen.restarts += 1;
        self.count_server(&server);
        let is_push =
            |event: &Event| matches!(event, Event::Arrives { to_server: true, data, .. } if data[0] == 1);
        let in_a_push = self.events.events().any(is_push);
        self.audit.seen.restarts_in_a_push += u64::from(in_a_push);
        self.server_process += 1;
        (0..self.trial.workers).for_each(|worker| self.cut(worker));
        let at = self.within(1, 300);
        self.at(at, Event::StartsServer);
    }

    fn start_server(&mut self) {
        if self.server.is_some() {
            return;
        }
        self.server_process += 1;
        let setup = ServerSetup {
            incarnation: self.server_process,
            model: MODEL,
            chunk_values: self.trial.chunk_values,
            precision: self.trial.precision,
            window: self.trial.window,
            rates_bps: vec![self.trial.is_paced.then_some(50e3); self.trial.workers],
            gather: self.now + Duration::from_millis(500),
            absence: Duration::from_millis(1000),
            iterations: Some(self.trial.iterations),
        };
        // With few chunks the patience is short enough that some workers time out while they push; with many
        // it must exceed a pull and a push, or a worker would time out in each iteration.
        let is_short = self.trial.values.div_ceil(self.trial.chunk_values) <= 6;
        let patience = Duration::from_millis(if is_short { 600 } else { 10_000 });
        let patience = self.random.random_bool(0.3).then_some(patience);
        if self.server_process > 1 && self.training == TRAINING {
            self.lose_model();
        }
        self.audit.restarted(&self.kept);
        let sequencer = Either::new(self.trial, patience, MODEL, self.kept.clone());
        // The new incarnation continues the training from a checkpoint: no worker may confuse two trainings.
        let workers = (0..self.trial.workers).map(|worker| format!("w{worker}")).collect();
        let agreement = Agreement::new(Terms::new([("seed", "1")]).unwrap());
        let training = Training { number: self.training, server: "s1".to_owned(), workers, agreement };
        self.server = Some(ServerAgent::new(setup, sequencer).with_training(training));
        for worker in 0..self.trial.workers {
            let at = self.within(1, 50);
            self.at(at, Event::Connects { worker });
        }
    }

    fn carry_out(&mut self) {
        let now = self.now;
        while let Some(output) = self.server.as_mut().and_then(|server| server.next(now)) {
            self.of_server(output);
        }
        for worker in 0..self.trial.workers {
            while let Some(output) = self.workers[worker].as_mut().and_then(|agent| agent.next(now)) {
                self.of_worker(worker, output);
            }
        }
    }

    fn of_server(&mut self, output: Output<ServerReport, Result<(), String>>) {
        let (seed, now) = (self.trial.seed, self.now);
        match output {
            Output::Send { to, id, data, .. } => self.send(true, to.index(), id, data),
            Output::Report(ServerReport::Pushed { worker, iteration, base, values, refusal }) => {
                self.audit.arrived(worker.index(), iteration, base, &values, seed);
                // In a group, a refused update has no turn to wait for; its client continues in the same
                // round.
                if refusal.is_some() && matches!(self.trial.rule, Rule::Groups(_)) {
                    self.audit.refused(worker.index(), seed);
                }
            }
            Output::Report(ServerReport::Applied(applied)) => {
                let server = self.server.as_mut().expect("the server has reported it");
                // Several versions may be applied at once: the last one is the server's.
                let is_last = server.sequencer().version() == applied.version;
                let model = is_last.then(|| server.model());
                let model = model.as_ref().map(|all| &***all);
                self.audit.applied(applied.version, &applied.updates, model, self.trial);
                if is_last && self.random.random_bool(0.7) {
                    self.kept = server.sequencer().kept();
                }
            }
            Output::Report(ServerReport::Discarded { worker, iteration, .. }) => {
                self.audit.discarded(worker.index(), iteration, seed);
            }
            Output::Report(ServerReport::Gone { .. }) => self.audit.seen.gone += 1,
            Output::Report(ServerReport::Joined { .. } | ServerReport::Pulls { .. }) => {}
            // The worker's reaction is checked there.
            Output::Report(ServerReport::Rejected { why, .. }) => {
                let may = self.trial.odd.is_some_and(|odd| odd != Odd::Overflows);
                assert!(may, "seed {seed}: {why}");
            }
            Output::Report(ServerReport::Overflow { version, overflow }) => {
                assert_eq!(self.trial.odd, Some(Odd::Overflows), "seed {seed}: {overflow}");
                self.audit.overflows(version, overflow.worker.index(), overflow.at, self.trial);
                self.is_stopped = true;
                self.server.iter_mut().for_each(|server| server.stop(&overflow.to_string(), now));
            }
            Output::Over => {}
            other => panic!("seed {seed}: {other:?}"),
        }
    }

    fn of_worker(&mut self, worker: usize, output: Output<WorkerReport>) {
        let (trial, seed) = (self.trial, self.trial.seed);
        match output {
            Output::Send { id, data, .. } => self.send(false, worker, id, data),
            Output::Report(WorkerReport::Compute(start)) => {
                let arriving = |values: &[f32]| as_received(values, trial.chunk_values, trial.precision);
                let is_its = self.taken[worker] == 0 || self.taken[worker] == self.training;
                assert!(is_its, "seed {seed}: w{worker} continues with another model");
                let is_admitted = trial.odd != Some(Odd::OtherTerms { worker }) || self.is_corrected;
                assert!(is_admitted, "seed {seed}: w{worker} trains with another seed");
                self.audit.pulled(&start, trial, arriving);
                let mut values: Vec<f32> =
                    (0..trial.values).map(|_| self.random.random_range(-1.0..1.0)).collect();
                // Updates of few values differ by this tag, in half precision, too.
                let tag = self.audit.seen.computed + 1;
                values[0] = f32::from_bits(0x3f80_0000 + ((tag as u32 % 1024) << 13));
                if trial.odd == Some(Odd::Overflows) && self.random.random_bool(0.5) {
                    let tag = if trial.values == 1 { tag as u32 } else { 0 };
                    values[trial.values - 1] = f32::from_bits(0x7f60_0000 + tag);
                }
                if self.random.random_bool(trial.not_finite) {
                    values[trial.values - 1] = f32::from_bits(0x7fc0_0000 | ((tag as u32 % 512) << 13));
                }
                self.audit.computed(worker, (start.version, start.batch), &arriving(&values));
                let (at, process) = (self.within(1, 300), self.processes[worker]);
                let values = values.into_iter().map(f32::to_bits).collect();
                self.at(at, Event::Computed { worker, process, ticket: start.ticket, values });
            }
            Output::Report(WorkerReport::Pushed { .. }) => self.taken[worker] = self.training,
            Output::Report(WorkerReport::Failed(WorkerError::Refused(why))) => self.is_refused(worker, &why),
            Output::Report(WorkerReport::Failed(WorkerError::Stopped(why))) => {
                assert!(self.is_stopped && why.contains("becomes infinite"), "seed {seed}: {why}");
                self.audit.seen.stopped += 1;
                self.stopped[worker] = true;
                self.end_process(worker);
            }
            Output::Report(WorkerReport::Over { version }) => {
                let own = self.server.as_ref().map(|server| server.sequencer().version());
                assert!(own.is_none_or(|own| version <= own), "seed {seed}");
            }
            Output::Report(WorkerReport::Failed(error)) => panic!("seed {seed}: {error}"),
            Output::Over => {}
            other => panic!("seed {seed}: {other:?}"),
        }
    }

    fn send(&mut self, of_server: bool, worker: usize, id: u64, data: Bytes) {
        let (connection, is_up) = self.connections[worker];
        if !is_up {
            return;
        }
        let process = if of_server { self.processes[worker] } else { self.server_process };
        let fails = self.random.random_bool(self.trial.fails);
        let mut at = self.within(1, 40);
        if !fails || self.random.random_bool(0.5) {
            self.at(at, Event::Arrives { to_server: !of_server, worker, process, data });
        }
        if fails {
            at = self.within(1, 40);
        }
        self.at(at, Event::Ends { of_server, worker, connection, id, is_taken: !fails });
    }

    fn count_server(&mut self, server: &Server) {
        let counters = server.counters();
        let refuses = self.trial.odd.is_some_and(|odd| odd != Odd::Overflows);
        let refused = if refuses { 0 } else { counters.other_model };
        assert_eq!((counters.malformed, refused), (0, 0), "seed {}", self.trial.seed);
        self.dropped.chunks_repeated += counters.repeated;
        self.dropped.chunks_unasked += counters.unasked;
        self.dropped.stale_incarnation += counters.stale_incarnation;
        self.dropped.pulls_repeated += counters.pulls_repeated;
        if let Either::Groups(groups) = server.sequencer() {
            self.dropped.late += groups.server().counters().late;
        }
    }

    fn count_worker(&mut self, agent: &WorkerAgent) {
        let counters = agent.counters();
        assert_eq!(counters.malformed, 0, "seed {}", self.trial.seed);
        self.dropped.superseded += counters.superseded;
        self.dropped.sent_again += counters.sent_again;
    }

    fn finish(mut self) -> Seen {
        let server = self.server.take().expect("the server has ended");
        self.count_server(&server);
        for worker in std::mem::take(&mut self.workers).iter().flatten() {
            self.count_worker(worker);
        }
        if self.is_stopped {
            assert!(server.sequencer().values().iter().all(|value| value.is_finite()));
            self.audit.seen.add(&self.dropped);
            return self.audit.seen;
        }
        self.audit.ended(self.trial.seed);
        let done: BTreeMap<usize, u64> = server.sequencer().kept().done.into_iter().enumerate().collect();
        // Groups count rounds from the start again after a restart of their server, and not all of a group
        // are in each.
        let is_one_by_one = matches!(self.trial.rule, Rule::SyncModel(_));
        assert!(!is_one_by_one || done.values().any(|done| *done >= self.trial.iterations), "{done:?}");
        assert_eq!(server.sequencer().values(), self.audit.model());
        self.audit.seen.add(&self.dropped);
        self.audit.seen
    }
}

fn number(worker: usize) -> PeerNo {
    PeerNo(worker as u32)
}
