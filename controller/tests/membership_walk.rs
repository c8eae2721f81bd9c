//! The rendezvous of an elastic job under random hosts: they compute for random times, hear late, die, and
//! come back; plans fail. At every moment no two runs have a host that works in both, runs end at one
//! boundary, and when nobody dies any more, all come to be in one run and go on.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller::membership::*;
use inart_wire::{Epoch, Incarnation};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Seconds per step.
const STEP: f64 = 0.05;
/// Steps in which hosts die and come, and after those.
const CHAOS: usize = 1600;
const CALM: usize = 3000;

/// What a host is at.
#[derive(Clone, Debug, PartialEq)]
enum At {
    Dead,
    /// It asks for a run; it was in one before, and left it at that boundary, if any.
    Asking(Option<Epoch>, Option<u32>),
    Running(InRun),
}

#[derive(Clone, Debug, PartialEq)]
struct InRun {
    run: Epoch,
    started: u32,
    completed: u32,
    /// Tensors that it may start, and whether it leaves there.
    limit: Option<(u32, bool)>,
    is_over: bool,
    /// What it has heard of the run's end.
    heard: Ending,
}

struct Host {
    name: String,
    life: u32,
    at: At,
    rounds: u64,
    loading: bool,
    /// When it acts next, in steps.
    next: usize,
    /// When the controller notices that its connection has ended.
    notice: Option<(usize, u32)>,
}

/// A second process of a host that is there, by mistake.
struct Twin {
    host: usize,
    life: Incarnation,
    /// When it asked first, and when it asks next, in steps.
    since: usize,
    next: usize,
}

/// Steps after which a twin has been refused, unless the first process has died.
const REFUSED_WITHIN: usize = 200;

struct Walk {
    rng: ChaCha8Rng,
    job: Membership,
    hosts: Vec<Host>,
    twin: Option<Twin>,
    twins_refused: u32,
    now: usize,
    told: Ending,
    runs: u16,
    /// When the run is formed that was ordered.
    forming: Option<(usize, Formation)>,
    /// By run: the tensors that its workers have started.
    started: BTreeMap<Epoch, BTreeMap<String, u32>>,
    /// By run: the boundary that it ended at.
    boundaries: BTreeMap<Epoch, u32>,
}

fn is_worker(name: &str) -> bool {
    name.starts_with('w')
}

impl Walk {
    fn new(seed: u64) -> Self {
        let names = |kind: &str, count: usize| (1..=count).map(|n| format!("{kind}{n}")).collect::<Vec<_>>();
        let roster = Roster { job: "j".to_owned(), workers: names("w", 3), servers: names("s", 2) };
        let hosts = roster.hosts().map(|name| Host {
            name: name.to_owned(),
            life: 1,
            at: At::Asking(None, None),
            rounds: 0,
            loading: true,
            next: 0,
            notice: None,
        });
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            hosts: hosts.collect(),
            twin: None,
            twins_refused: 0,
            job: Membership::new(roster, Timing::default()),
            now: 0,
            told: Ending::None,
            runs: 0,
            forming: None,
            started: BTreeMap::new(),
            boundaries: BTreeMap::new(),
        }
    }

    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.now as f64 * STEP)
    }

    fn life(&self, host: usize) -> Incarnation {
        Incarnation::new(self.hosts[host].life * 10 + host as u32 + 1)
    }

    fn step(&mut self, chaos: bool) {
        self.now += 1;
        self.job.tick(self.time());
        self.obey();
        for host in 0..self.hosts.len() {
            self.notice(host);
            if chaos && self.rng.random_bool(0.0005) {
                self.strike(host);
            }
            if self.hosts[host].next <= self.now {
                self.act(host);
                self.obey();
            }
        }
        self.twin(chaos);
        self.form(chaos);
    }

    /// A second process of a live host asks: it waits, and is refused within seconds. If the first one dies,
    /// it takes its place.
    fn twin(&mut self, chaos: bool) {
        if chaos && self.twin.is_none() && self.rng.random_bool(0.005) {
            let host = self.rng.random_range(0..self.hosts.len());
            let life = Incarnation::new(self.hosts[host].life * 10 + host as u32 + 100_001);
            // The first process has been heard of.
            if matches!(self.hosts[host].at, At::Running(_) | At::Asking(Some(_), _)) {
                self.twin = Some(Twin { host, life, since: self.now, next: self.now });
            }
        }
        let Some(mut twin) = self.twin.take() else { return };
        let time = self.time();
        let this = &mut self.hosts[twin.host];
        // Before the controller has noticed the death, the twin may still be refused.
        if this.at == At::Dead && this.notice.is_none() {
            // It has the number of a later life.
            (this.life, this.rounds, this.loading) = (this.life + 10_000, 0, true);
            this.at = At::Asking(None, None);
            return;
        }
        if twin.next > self.now {
            self.twin = Some(twin);
            return;
        }
        twin.next = self.now + self.rng.random_range(1..20);
        let name = this.name.clone();
        let loading = is_worker(&name);
        let joining = Joining { host: name, life: twin.life, last: None, boundary: None, rounds: 0, loading };
        match self.job.join(time, joining) {
            Ok(Reply::Waiting(_)) => {
                assert!(self.now - twin.since < REFUSED_WITHIN, "a twin waits: {:?}", self.job.status());
                self.twin = Some(twin);
            }
            Ok(Reply::Seated(seat)) => panic!("a twin is seated: {seat:?}"),
            Err(refusal) => {
                assert!(matches!(refusal, Refusal::Taken { .. }), "{refusal}");
                self.twins_refused += 1;
            }
        }
        self.obey();
    }

    /// A host dies, or another life of it begins.
    fn strike(&mut self, host: usize) {
        let when = self.now + self.rng.random_range(1..20);
        let this = &mut self.hosts[host];
        if this.at == At::Dead {
            self.twin.take_if(|twin| twin.host == host);
            (this.life, this.rounds, this.loading) = (this.life + 1, 0, true);
            this.at = At::Asking(None, None);
            return;
        }
        if matches!(this.at, At::Running(_)) {
            this.notice = Some((when, this.life));
        }
        this.at = At::Dead;
    }

    fn notice(&mut self, host: usize) {
        let Some((_, life)) = self.hosts[host].notice.take_if(|(when, _)| *when <= self.now) else { return };
        let life = Incarnation::new(life * 10 + host as u32 + 1);
        self.job.disconnected(self.time(), &self.hosts[host].name.clone(), life);
    }

    fn obey(&mut self) {
        for order in self.job.orders() {
            match order {
                Order::Tell(ending) => self.told = ending,
                Order::Form(formation) => {
                    self.forming = Some((self.now + self.rng.random_range(1..12), formation));
                }
            }
        }
    }

    /// The run that was ordered begins, or cannot be planned.
    fn form(&mut self, chaos: bool) {
        let Some((_, formation)) = self.forming.take_if(|(when, _)| *when <= self.now) else { return };
        let working: Vec<_> = self.hosts.iter().filter(|host| matches!(host.at, At::Running(_))).collect();
        let names: Vec<_> = working.iter().map(|host| host.name.as_str()).collect();
        assert!(names.is_empty(), "{names:?} are in run {} while {formation:?} begins another", self.runs);
        if chaos && self.rng.random_bool(0.2) {
            self.job.formed(self.time(), Err("no plan".to_owned()));
            return;
        }
        self.runs += 1;
        self.told = Ending::None;
        let started = formation.workers.iter().map(|(host, _)| (host.clone(), 0)).collect();
        self.started.insert(Epoch::from(self.runs), started);
        self.job.formed(self.time(), Ok(Epoch::from(self.runs)));
    }

    fn act(&mut self, host: usize) {
        match self.hosts[host].at.clone() {
            At::Dead => {}
            At::Asking(last, boundary) => self.ask(host, last, boundary),
            At::Running(run) => self.run(host, run),
        }
    }

    fn ask(&mut self, host: usize, last: Option<Epoch>, boundary: Option<u32>) {
        let (time, life) = (self.time(), self.life(host));
        let Host { name, rounds, loading, .. } = &self.hosts[host];
        let (rounds, loading) = (*rounds, *loading && is_worker(name));
        let joining = Joining { host: name.clone(), life, last, boundary, rounds, loading };
        self.hosts[host].next = self.now + self.rng.random_range(1..20);
        match self.job.join(time, joining) {
            Ok(Reply::Waiting(_)) => {}
            Ok(Reply::Seated(seat)) => {
                let this = &mut self.hosts[host];
                let (run, heard) = (seat.run, Ending::None);
                assert_eq!(run, Epoch::from(self.runs), "{}: of a run before", this.name);
                this.at =
                    At::Running(InRun { run, started: 0, completed: 0, limit: None, is_over: false, heard });
                assert!(seat.loads || this.rounds == seat.rounds || !is_worker(&this.name), "{seat:?}");
                assert!(seat.rounds >= this.rounds, "newer than the newest: {seat:?}");
                if is_worker(&this.name) {
                    (this.rounds, this.loading) = (seat.rounds, false);
                }
                // The earlier connection is not its only one any more.
                this.notice = None;
                let name = this.name.clone();
                self.job.connected(time, &name, life);
            }
            Err(refusal) => panic!("{refusal}"),
        }
    }

    /// A member of a run hears what is told, and does the next thing.
    fn run(&mut self, host: usize, mut run: InRun) {
        let (name, life) = (self.hosts[host].name.clone(), self.life(host));
        if run.heard != self.told {
            run.heard = self.told;
            let holds = hear(&mut run);
            self.hosts[host].at = At::Running(run.clone());
            self.job.heard(self.time(), &name, life, run.heard, run.started, holds);
        }
        // It computes, at times for long, though not as long as it would be given up.
        let longest = if self.rng.random_bool(0.1) { 40 } else { 6 };
        self.hosts[host].next = self.now + self.rng.random_range(1..=longest);
        if run.is_over {
            self.leave(host, run.run, None);
            return;
        }
        if !is_worker(&name) {
            return;
        }
        let peers = &self.started[&run.run];
        if run.started > run.completed {
            if peers.values().all(|started| *started > run.completed) {
                run.completed += 1;
                self.hosts[host].rounds += 1;
            } else if self.is_stuck(&run) && self.rng.random_bool(0.05) {
                self.leave(host, run.run, None);
                return;
            }
            self.hosts[host].at = At::Running(run);
            return;
        }
        match run.limit {
            Some((tensor, leaves)) if run.started >= tensor => {
                if leaves {
                    let boundary = *self.boundaries.entry(run.run).or_insert(tensor);
                    assert_eq!(boundary, tensor, "{name} leaves run {} elsewhere", run.run);
                    assert!(peers.values().all(|started| *started <= tensor), "{peers:?} beyond {tensor}");
                    self.leave(host, run.run, Some(tensor));
                }
            }
            _ => {
                run.started += 1;
                self.started.get_mut(&run.run).unwrap().insert(name, run.started);
                self.hosts[host].at = At::Running(run);
            }
        }
    }

    /// A host leaves its run, and so its connection ends.
    fn leave(&mut self, host: usize, run: Epoch, boundary: Option<u32>) {
        let when = self.now + self.rng.random_range(1..20);
        let this = &mut self.hosts[host];
        this.notice = Some((when, this.life));
        this.at = At::Asking(Some(run), boundary);
    }

    /// Whether a member that its tensor needs is not in the run any more.
    fn is_stuck(&self, run: &InRun) -> bool {
        let is_in = |name: &str| {
            let in_run = |host: &Host| matches!(&host.at, At::Running(other) if other.run == run.run);
            self.hosts.iter().any(|host| host.name == name && in_run(host))
        };
        let lacks = |(name, started): (&String, &u32)| *started <= run.completed && !is_in(name);
        self.started[&run.run].iter().any(lacks) || !["s1", "s2"].iter().any(|server| is_in(server))
    }
}

/// As `RunEnd` of the hosts; whether it holds.
fn hear(run: &mut InRun) -> bool {
    let refuses = |tensor: u32| run.started > tensor;
    match (run.heard, run.limit) {
        (Ending::Now, _) => run.is_over = true,
        (_, Some((_, true))) => {}
        (Ending::None | Ending::Prepare, _) => run.limit = None,
        (Ending::Before(tensor) | Ending::Agreed(tensor), _) if refuses(tensor) => {
            run.limit = None;
            return false;
        }
        (Ending::Before(tensor), _) => run.limit = Some((tensor, false)),
        (Ending::Agreed(tensor), _) => run.limit = Some((tensor, true)),
    }
    true
}

#[test]
fn hosts_come_and_go_at_random_and_meet_again() {
    let (mut runs, mut boundaries, mut twins) = (0, 0, 0);
    for seed in 0..150 {
        let mut walk = Walk::new(seed);
        for _ in 0..CHAOS {
            walk.step(true);
        }
        // All live again, and nobody dies any more.
        for host in 0..walk.hosts.len() {
            if walk.hosts[host].at == At::Dead {
                walk.strike(host);
            }
        }
        for _ in 0..CALM {
            walk.step(false);
        }
        let last = Epoch::from(walk.runs);
        for host in &walk.hosts {
            let is_in = matches!(&host.at, At::Running(run) if run.run == last);
            assert!(is_in, "seed {seed}: {} is at {:?}: {:?}", host.name, host.at, walk.job.status());
        }
        let rounds = |walk: &Walk| walk.hosts[..3].iter().map(|host| host.rounds).max().unwrap();
        let before = rounds(&walk);
        (0..400).for_each(|_| walk.step(false));
        assert!(rounds(&walk) > before, "seed {seed}: no round in 20 s: {:?}", walk.job.status());
        runs += u64::from(walk.runs);
        boundaries += walk.boundaries.len();
        twins += walk.twins_refused;
    }
    eprintln!("{runs} runs, {boundaries} boundaries, {twins} twins refused");
    assert!(
        runs > 600 && boundaries > 100 && twins > 100,
        "{runs} runs, {boundaries} boundaries, {twins} twins"
    );
}
