//! A server and its participants in virtual time, by frames.

use std::time::Duration;

use inart_connections::{Machine as _, Output, PeerNo};
use inart_frames::{FrameLink, LinkEvent, LinkSetup};
use inart_ps_agent::{
    Checkpoint, Sequencer, ServerAgent, ServerReport, ServerSetup, WorkerAgent, WorkerReport, WorkerSetup,
    as_received,
};
use inart_virtual::Timeline;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::network::Faults;
use crate::campaign::audit::Audit;
use crate::campaign::sequencer::Either;
use crate::campaign::trial::{Rule, Trial};

/// The worker's only connection.
const SERVER: PeerNo = PeerNo(0);

const MODEL: u64 = 77;
const LONGEST: Duration = Duration::from_secs(900);
/// The code of a frame with part of a packet.
const PART: u32 = 32;
/// Silence after which a connection has ended.
const SILENCE: Duration = Duration::from_millis(1500);

#[derive(Debug, Clone)]
enum Event {
    Arrives { to_server: bool, worker: usize, words: Vec<u32> },
    Computed { worker: usize, process: u32, ticket: u64, values: Vec<u32> },
    Silent { worker: usize, until: Duration },
    Kill { worker: usize },
    Starts { worker: usize },
    KillServer,
    StartsServer,
}

/// Counts of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub applied: u64,
    pub ups: u64,
    pub downs: u64,
    pub parts_again: u64,
    pub parts_repeated: u64,
    pub other_connection: u64,
    pub restarts_in_a_push: u64,
    pub kills: u64,
}

impl Seen {
    pub fn list(&self) -> [(&'static str, u64); 8] {
        [
            ("an update applied", self.applied),
            ("a connection", self.ups),
            ("a connection that ended", self.downs),
            ("a part sent again", self.parts_again),
            ("a part twice", self.parts_repeated),
            ("a frame of another connection", self.other_connection),
            ("a server restarted in the middle of a push", self.restarts_in_a_push),
            ("a process killed", self.kills),
        ]
    }

    pub fn add(&mut self, other: &Seen) {
        self.applied += other.applied;
        self.ups += other.ups;
        self.downs += other.downs;
        self.parts_again += other.parts_again;
        self.parts_repeated += other.parts_repeated;
        self.other_connection += other.other_connection;
        self.restarts_in_a_push += other.restarts_in_a_push;
        self.kills += other.kills;
    }
}

struct WorkerProcess {
    agent: WorkerAgent,
    link: FrameLink,
}

struct ServerProcess {
    agent: ServerAgent<Either>,
    /// Links by worker.
    links: Vec<FrameLink>,
}

struct World<'t> {
    trial: &'t Trial,
    faults: &'t Faults,
    random: ChaCha8Rng,
    now: Duration,
    events: Timeline<Event>,
    server: Option<ServerProcess>,
    workers: Vec<Option<WorkerProcess>>,
    /// By worker: the number of its process, and the end of its link's silence.
    processes: Vec<u32>,
    silent_until: Vec<Duration>,
    incarnations: u32,
    kept: Checkpoint,
    audit: Audit,
    seen: Seen,
}

/// Runs a trial to its end.
pub fn run(trial: &Trial, faults: &Faults) -> Seen {
    let mut random = ChaCha8Rng::seed_from_u64(trial.seed ^ 0xf5eed);
    let first: Vec<f32> = (0..trial.values).map(|_| random.random_range(-1.0..1.0)).collect();
    let n = trial.workers;
    let mut world = World {
        trial,
        faults,
        random,
        now: Duration::ZERO,
        events: Timeline::new(),
        server: None,
        workers: (0..n).map(|_| None).collect(),
        processes: vec![0; n],
        silent_until: vec![Duration::ZERO; n],
        incarnations: 0,
        kept: Checkpoint { version: 0, done: vec![0; n], members: vec![false; n], values: first.clone() },
        audit: Audit::new(first),
        seen: Seen::default(),
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

    /// Returns an incarnation that no process or connection has had.
    fn incarnation(&mut self) -> u32 {
        self.incarnations += 1;
        self.incarnations * 1000
    }

    fn schedule(&mut self) {
        self.at(Duration::ZERO, Event::StartsServer);
        for worker in 0..self.trial.workers {
            let at = self.within(0, 100);
            self.at(at, Event::Starts { worker });
        }
        for _ in 0..self.trial.cuts {
            let (at, worker) = (self.within(0, 3000), self.random.random_range(0..self.trial.workers));
            let until = at + Duration::from_millis(self.random.random_range(50..3000));
            self.at(at, Event::Silent { worker, until });
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
        let (trial, faults) = (self.trial, self.faults);
        if self.now >= LONGEST {
            let server = self.server.as_ref().map(|own| (&own.agent, &own.links));
            let workers: Vec<_> = self.workers.iter().flatten().map(|own| (&own.agent, &own.link)).collect();
            panic!(
                "seed {}: the trial never ends: {trial:?} {faults:?} {server:#?} {workers:#?}",
                trial.seed
            );
        }
        let is_fault_free = self.events.events().all(|event| {
            matches!(event, Event::Arrives { .. } | Event::Computed { .. } | Event::Silent { .. })
        });
        let all = self.workers.iter().all(|worker| worker.as_ref().is_some_and(|own| own.agent.is_over()));
        is_fault_free && all && self.server.as_ref().is_some_and(|own| own.agent.is_over())
    }

    fn wake_at(&self) -> Option<Duration> {
        let server = self
            .server
            .iter()
            .flat_map(|own| own.links.iter().map(FrameLink::wake_at).chain(own.agent.wake_at()));
        let workers = self.workers.iter().flatten();
        let workers = workers.flat_map(|own| [Some(own.link.wake_at()), own.agent.wake_at()]);
        server.chain(workers.flatten()).min()
    }

    fn step(&mut self) {
        let next = self.events.next_at();
        let wake = self.wake_at();
        match next {
            Some(next) if wake.is_none_or(|wake| next <= wake) => {
                let Some((at, event)) = self.events.take() else { return };
                self.now = self.now.max(at);
                self.happen(event);
            }
            _ => self.now = self.now.max(wake.expect("something is due")),
        }
        let now = self.now;
        if let Some(own) = &mut self.server {
            own.agent.tick(now);
            own.links.iter_mut().for_each(|link| link.tick(now));
        }
        for own in self.workers.iter_mut().flatten() {
            own.agent.tick(now);
            own.link.tick(now);
        }
        self.carry_out();
    }

    fn happen(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Arrives { worker, .. } if now < self.silent_until[worker] => {}
            Event::Arrives { to_server: true, worker, words } => {
                if let Some(own) = &mut self.server {
                    own.links[worker].frame(&words, now);
                }
            }
            Event::Arrives { to_server: false, worker, words } => {
                if let Some(own) = &mut self.workers[worker] {
                    own.link.frame(&words, now);
                }
            }
            Event::Computed { worker, process, ticket, values } => {
                if process == self.processes[worker]
                    && let Some(own) = &mut self.workers[worker]
                {
                    own.agent.computed(ticket, values.into_iter().map(f32::from_bits).collect()).unwrap();
                }
            }
            Event::Silent { worker, until } => self.silent_until[worker] = until,
            Event::Kill { worker } => {
                if let Some(own) = self.workers[worker].take() {
                    self.seen.kills += 1;
                    self.count(&own.link);
                    let at = self.within(1, 2500);
                    self.at(at, Event::Starts { worker });
                }
            }
            Event::Starts { worker } => self.start(worker),
            Event::KillServer => {
                if let Some(own) = self.server.take() {
                    self.seen.restarts_in_a_push += u64::from(self.is_pushing());
                    own.links.iter().for_each(|link| self.count(link));
                    let at = self.within(1, 2500);
                    self.at(at, Event::StartsServer);
                }
            }
            Event::StartsServer => self.start_server(),
        }
    }

    /// Returns whether parts are in flight to the server.
    fn is_pushing(&self) -> bool {
        let is_part = |event: &Event| match event {
            Event::Arrives { to_server: true, words, .. } => words.first() == Some(&PART),
            _ => false,
        };
        self.events.events().any(is_part)
    }

    fn link(&mut self) -> LinkSetup {
        let rate_bps = self.trial.is_paced.then_some(500e3);
        LinkSetup {
            incarnation: self.incarnation(),
            values_per_frame: 32,
            frame_bytes: 172,
            rate_bps,
            silence: SILENCE,
        }
    }

    fn start(&mut self, worker: usize) {
        if self.workers[worker].is_some() {
            return;
        }
        let setup = WorkerSetup {
            incarnation: self.incarnation(),
            model: MODEL,
            values: self.trial.values,
            window: self.trial.window,
            rate_bps: None,
            patience: Duration::from_secs(600),
        };
        let link = FrameLink::new(self.link());
        self.processes[worker] += 1;
        self.workers[worker] = Some(WorkerProcess { agent: WorkerAgent::new(setup), link });
    }

    fn start_server(&mut self) {
        if self.server.is_some() {
            return;
        }
        let trial = self.trial;
        let setup = ServerSetup {
            incarnation: self.incarnation(),
            model: MODEL,
            chunk_values: trial.chunk_values,
            precision: trial.precision,
            window: trial.window,
            rates_bps: vec![None; trial.workers],
            gather: self.now + Duration::from_millis(500),
            absence: Duration::from_millis(3000),
            iterations: Some(trial.iterations),
        };
        let links = (0..trial.workers).map(|_| FrameLink::new(self.link())).collect();
        self.audit.restarted(&self.kept);
        let sequencer = Either::new(trial, None, MODEL, self.kept.clone());
        self.server = Some(ServerProcess { agent: ServerAgent::new(setup, sequencer), links });
    }

    /// Carries out outputs until no process has any.
    fn carry_out(&mut self) {
        let mut is_quiet = false;
        while !is_quiet {
            // Each of them in every pass.
            is_quiet =
                ![self.deliver_link_events(), self.server_sends(), self.workers_send()].contains(&true);
        }
        self.frames_leave();
    }

    fn deliver_link_events(&mut self) -> bool {
        let (now, mut any) = (self.now, false);
        if let Some(own) = &mut self.server {
            for worker in 0..own.links.len() {
                while let Some(event) = own.links[worker].next_event() {
                    any = true;
                    let who = number(worker);
                    match event {
                        LinkEvent::Up => own.agent.up(who, now),
                        LinkEvent::Down => own.agent.down(who, now),
                        LinkEvent::Received(data) => own.agent.received(who, &data, None, now),
                        LinkEvent::Acknowledged { id } => own.agent.ended(id, true, now),
                    }
                }
            }
        }
        for own in self.workers.iter_mut().flatten() {
            while let Some(event) = own.link.next_event() {
                any = true;
                match event {
                    LinkEvent::Up => {
                        self.seen.ups += 1;
                        own.agent.up(SERVER, now);
                    }
                    LinkEvent::Down => {
                        self.seen.downs += 1;
                        own.agent.down(SERVER, now);
                    }
                    LinkEvent::Received(data) => own.agent.received(SERVER, &data, None, now),
                    LinkEvent::Acknowledged { id } => own.agent.ended(id, true, now),
                }
            }
        }
        any
    }

    fn server_sends(&mut self) -> bool {
        let (now, seed, mut any) = (self.now, self.trial.seed, false);
        while let Some(own) = &mut self.server
            && let Some(output) = own.agent.next(now)
        {
            any = true;
            match output {
                Output::Send { to, id, data, priority } => {
                    assert!(own.links[to.index()].send(id, data, priority), "seed {seed}: the link is up");
                }
                Output::Report(ServerReport::Pushed { worker, iteration, base, values, refusal }) => {
                    self.audit.arrived(worker.index(), iteration, base, &values, seed);
                    if refusal.is_some() && matches!(self.trial.rule, Rule::Groups(_)) {
                        self.audit.refused(worker.index(), seed);
                    }
                }
                Output::Report(ServerReport::Applied(applied)) => {
                    let is_last = own.agent.sequencer().version() == applied.version;
                    let model = is_last.then(|| own.agent.model());
                    let model = model.as_ref().map(|all| &***all);
                    self.audit.applied(applied.version, &applied.updates, model, self.trial);
                    if is_last && self.random.random_bool(0.7) {
                        self.kept = own.agent.sequencer().kept();
                    }
                }
                Output::Report(ServerReport::Discarded { worker, iteration, .. }) => {
                    self.audit.discarded(worker.index(), iteration, seed);
                }
                Output::Report(ServerReport::Rejected { why, .. }) => panic!("seed {seed}: {why}"),
                Output::Report(
                    ServerReport::Gone { .. } | ServerReport::Joined { .. } | ServerReport::Pulls { .. },
                ) => {}
                Output::Over => {}
                other => panic!("seed {}: {other:?}", self.trial.seed),
            }
        }
        any
    }

    fn workers_send(&mut self) -> bool {
        let (trial, now, mut any) = (self.trial, self.now, false);
        let arriving = |values: &[f32]| as_received(values, trial.chunk_values, trial.precision);
        for worker in 0..trial.workers {
            while let Some(own) = &mut self.workers[worker]
                && let Some(output) = own.agent.next(now)
            {
                any = true;
                match output {
                    Output::Send { id, data, priority, .. } => {
                        assert!(own.link.send(id, data, priority), "seed {}: the link is up", trial.seed);
                    }
                    Output::Report(WorkerReport::Compute(start)) => {
                        self.audit.pulled(&start, trial, arriving);
                        let mut values: Vec<f32> =
                            (0..trial.values).map(|_| self.random.random_range(-1.0..1.0)).collect();
                        // Updates of few values differ by this tag, in half precision, too.
                        let tag = self.audit.seen.computed + 1;
                        values[0] = f32::from_bits(0x3f80_0000 + ((tag as u32 % 1024) << 13));
                        if self.random.random_bool(trial.not_finite) {
                            values[trial.values - 1] =
                                f32::from_bits(0x7fc0_0000 | ((tag as u32 % 512) << 13));
                        }
                        self.audit.computed(worker, (start.version, start.batch), &arriving(&values));
                        let (at, process) = (self.within(1, 300), self.processes[worker]);
                        let values = values.into_iter().map(f32::to_bits).collect();
                        self.at(at, Event::Computed { worker, process, ticket: start.ticket, values });
                    }
                    Output::Report(WorkerReport::Pushed { .. } | WorkerReport::Over { .. }) => {}
                    Output::Report(WorkerReport::Failed(error)) => panic!("seed {}: {error}", trial.seed),
                    Output::Over => {}
                    other => panic!("seed {}: {other:?}", trial.seed),
                }
            }
        }
        any
    }

    fn frames_leave(&mut self) {
        for worker in 0..self.trial.workers {
            let now = self.now;
            while let Some(own) = &mut self.server
                && let Some(words) = own.links[worker].next_frame(now)
            {
                self.send(false, worker, &words);
            }
            while let Some(own) = &mut self.workers[worker]
                && let Some(words) = own.link.next_frame(now)
            {
                self.send(true, worker, &words);
            }
        }
    }

    fn send(&mut self, to_server: bool, worker: usize, words: &[u32]) {
        assert!(words.len() <= 32, "a frame has room for 32 values");
        for after in self.faults.copies(&mut self.random) {
            let at = self.now + after;
            self.at(at, Event::Arrives { to_server, worker, words: words.to_vec() });
        }
    }

    fn count(&mut self, link: &FrameLink) {
        let counters = link.counters();
        assert_eq!(counters.malformed, 0, "seed {}", self.trial.seed);
        self.seen.parts_again += counters.sent_again;
        self.seen.parts_repeated += counters.repeated;
        self.seen.other_connection += counters.other_connection;
    }

    fn finish(mut self) -> Seen {
        let server = self.server.take().expect("the server has ended");
        let workers: Vec<_> = self.workers.iter_mut().filter_map(Option::take).collect();
        server.links.iter().chain(workers.iter().map(|own| &own.link)).for_each(|link| self.count(link));
        self.audit.ended(self.trial.seed);
        assert_eq!(server.agent.sequencer().values(), self.audit.model());
        self.seen.applied = self.audit.seen.applied;
        self.seen
    }
}

fn number(worker: usize) -> PeerNo {
    PeerNo(worker as u32)
}
