//! Rendezvous of an elastic job under random hosts: they compute for random times, receive messages late,
//! fail, and return; plans fail. At every moment, no two views have a host that works in both, and views
//! end at one stop point. Once hosts stop failing, all get into one view and continue.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller::membership::*;
use inart_wire::{Incarnation, PlanVersion};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Seconds per step.
const STEP: f64 = 0.05;
/// Number of steps with failing and returning hosts, and of steps after them.
const CHAOS: usize = 1600;
const QUIET: usize = 3000;

/// Activity of a host.
#[derive(Clone, Debug, PartialEq)]
enum At {
    Dead,
    /// Asking for a view, with the last view and the stop point at which the host left it, if any.
    Asking(Option<PlanVersion>, Option<u32>),
    Running(InView),
}

#[derive(Clone, Debug, PartialEq)]
struct InView {
    view: PlanVersion,
    started: u32,
    completed: u32,
    /// Bound of tensors that it may start, and whether it leaves there.
    limit: Option<(u32, bool)>,
    is_over: bool,
    /// Last received ending.
    heard: Ending,
}

struct Host {
    name: String,
    incarnation: u32,
    at: At,
    rounds: u64,
    must_load_state: bool,
    /// Step of its next action.
    next: usize,
    /// Step at which the controller notices that its connection has ended.
    notice: Option<(usize, u32)>,
}

/// Second process of a running host, by mistake.
struct Twin {
    host: usize,
    incarnation: Incarnation,
    /// Steps of its first and its next request.
    since: usize,
    next: usize,
}

/// Number of steps after which a twin has been refused, unless the first process has failed.
const REFUSED_WITHIN: usize = 200;

struct Walk {
    rng: ChaCha8Rng,
    job: Membership,
    hosts: Vec<Host>,
    twin: Option<Twin>,
    twins_refused: u32,
    now: usize,
    sent: Ending,
    views: u16,
    /// Step at which the ordered view is formed.
    forming: Option<(usize, Formation)>,
    /// Tensors that workers have started, by view.
    started: BTreeMap<PlanVersion, BTreeMap<String, u32>>,
    /// Stop points, by view.
    stop_points: BTreeMap<PlanVersion, u32>,
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
            incarnation: 1,
            at: At::Asking(None, None),
            rounds: 0,
            must_load_state: true,
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
            sent: Ending::None,
            views: 0,
            forming: None,
            started: BTreeMap::new(),
            stop_points: BTreeMap::new(),
        }
    }

    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.now as f64 * STEP)
    }

    fn incarnation(&self, host: usize) -> Incarnation {
        Incarnation::new(self.hosts[host].incarnation * 10 + host as u32 + 1)
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

    /// Lets a second process of a running host ask: it waits, and is refused within seconds. If the first
    /// one fails, it replaces it.
    fn twin(&mut self, chaos: bool) {
        if chaos && self.twin.is_none() && self.rng.random_bool(0.005) {
            let host = self.rng.random_range(0..self.hosts.len());
            let incarnation = Incarnation::new(self.hosts[host].incarnation * 10 + host as u32 + 100_001);
            // The controller has seen the first process.
            if matches!(self.hosts[host].at, At::Running(_) | At::Asking(Some(_), _)) {
                self.twin = Some(Twin { host, incarnation, since: self.now, next: self.now });
            }
        }
        let Some(mut twin) = self.twin.take() else { return };
        let time = self.time();
        let this = &mut self.hosts[twin.host];
        // Before the controller has noticed the failure, it may still refuse the twin.
        if this.at == At::Dead && this.notice.is_none() {
            // The number of a later incarnation.
            (this.incarnation, this.rounds, this.must_load_state) = (this.incarnation + 10_000, 0, true);
            this.at = At::Asking(None, None);
            return;
        }
        if twin.next > self.now {
            self.twin = Some(twin);
            return;
        }
        twin.next = self.now + self.rng.random_range(1..20);
        let name = this.name.clone();
        let must_load_state = is_worker(&name);
        let joining = Joining {
            host: name,
            incarnation: twin.incarnation,
            last: None,
            stop_point: None,
            rounds: 0,
            must_load_state,
        };
        match self.job.join(time, joining) {
            Ok(Reply::Waiting(_)) => {
                assert!(self.now - twin.since < REFUSED_WITHIN, "a twin waits: {:?}", self.job.status());
                self.twin = Some(twin);
            }
            Ok(Reply::Admitted(membership)) => panic!("a twin is admitted: {membership:?}"),
            Err(refusal) => {
                assert!(matches!(refusal, Refusal::NameInUse { .. }), "{refusal}");
                self.twins_refused += 1;
            }
        }
        self.obey();
    }

    /// Fails a host, or starts another incarnation of it.
    fn strike(&mut self, host: usize) {
        let when = self.now + self.rng.random_range(1..20);
        let this = &mut self.hosts[host];
        if this.at == At::Dead {
            self.twin.take_if(|twin| twin.host == host);
            (this.incarnation, this.rounds, this.must_load_state) = (this.incarnation + 1, 0, true);
            this.at = At::Asking(None, None);
            return;
        }
        if matches!(this.at, At::Running(_)) {
            this.notice = Some((when, this.incarnation));
        }
        this.at = At::Dead;
    }

    fn notice(&mut self, host: usize) {
        let Some((_, incarnation)) = self.hosts[host].notice.take_if(|(when, _)| *when <= self.now) else {
            return;
        };
        let incarnation = Incarnation::new(incarnation * 10 + host as u32 + 1);
        self.job.disconnected(self.time(), &self.hosts[host].name.clone(), incarnation);
    }

    fn obey(&mut self) {
        for order in self.job.orders() {
            match order {
                Order::Announce(ending) => self.sent = ending,
                Order::Form(formation) => {
                    self.forming = Some((self.now + self.rng.random_range(1..12), formation));
                }
            }
        }
    }

    /// Starts the ordered view, or lets its planning fail.
    fn form(&mut self, chaos: bool) {
        let Some((_, formation)) = self.forming.take_if(|(when, _)| *when <= self.now) else { return };
        let working: Vec<_> = self.hosts.iter().filter(|host| matches!(host.at, At::Running(_))).collect();
        let names: Vec<_> = working.iter().map(|host| host.name.as_str()).collect();
        assert!(names.is_empty(), "{names:?} are in view {} while {formation:?} starts another", self.views);
        if chaos && self.rng.random_bool(0.2) {
            self.job.formed(self.time(), Err("no plan".to_owned()));
            return;
        }
        self.views += 1;
        self.sent = Ending::None;
        let started = formation.workers.iter().map(|(host, _)| (host.clone(), 0)).collect();
        self.started.insert(PlanVersion::from(self.views), started);
        self.job.formed(self.time(), Ok(PlanVersion::from(self.views)));
    }

    fn act(&mut self, host: usize) {
        match self.hosts[host].at.clone() {
            At::Dead => {}
            At::Asking(last, stop_point) => self.ask(host, last, stop_point),
            At::Running(view) => self.run(host, view),
        }
    }

    fn ask(&mut self, host: usize, last: Option<PlanVersion>, stop_point: Option<u32>) {
        let (time, incarnation) = (self.time(), self.incarnation(host));
        let Host { name, rounds, must_load_state, .. } = &self.hosts[host];
        let (rounds, must_load_state) = (*rounds, *must_load_state && is_worker(name));
        let joining = Joining { host: name.clone(), incarnation, last, stop_point, rounds, must_load_state };
        self.hosts[host].next = self.now + self.rng.random_range(1..20);
        match self.job.join(time, joining) {
            Ok(Reply::Waiting(_)) => {}
            Ok(Reply::Admitted(membership)) => {
                let this = &mut self.hosts[host];
                let (view, heard) = (membership.view, Ending::None);
                assert_eq!(view, PlanVersion::from(self.views), "{}: of an earlier view", this.name);
                this.at = At::Running(InView {
                    view,
                    started: 0,
                    completed: 0,
                    limit: None,
                    is_over: false,
                    heard,
                });
                assert!(
                    membership.must_load_state || this.rounds == membership.rounds || !is_worker(&this.name),
                    "{membership:?}"
                );
                assert!(membership.rounds >= this.rounds, "newer than the newest state: {membership:?}");
                if is_worker(&this.name) {
                    (this.rounds, this.must_load_state) = (membership.rounds, false);
                }
                // The earlier connection is not its only one any more.
                this.notice = None;
                let name = this.name.clone();
                self.job.connected(time, &name, incarnation);
            }
            Err(refusal) => panic!("{refusal}"),
        }
    }

    /// Lets a member of a view receive the ending, and act.
    fn run(&mut self, host: usize, mut view: InView) {
        let (name, incarnation) = (self.hosts[host].name.clone(), self.incarnation(host));
        if view.heard != self.sent {
            view.heard = self.sent;
            let holds = on_ending(&mut view);
            self.hosts[host].at = At::Running(view.clone());
            self.job.answered(self.time(), &name, incarnation, view.heard, view.started, holds);
        }
        // Computing time, sometimes long, but below the timeout.
        let longest = if self.rng.random_bool(0.1) { 40 } else { 6 };
        self.hosts[host].next = self.now + self.rng.random_range(1..=longest);
        if view.is_over {
            self.leave(host, view.view, None);
            return;
        }
        if !is_worker(&name) {
            return;
        }
        let peers = &self.started[&view.view];
        if view.started > view.completed {
            if peers.values().all(|started| *started > view.completed) {
                view.completed += 1;
                self.hosts[host].rounds += 1;
            } else if self.is_stuck(&view) && self.rng.random_bool(0.05) {
                self.leave(host, view.view, None);
                return;
            }
            self.hosts[host].at = At::Running(view);
            return;
        }
        match view.limit {
            Some((tensor, leaves)) if view.started >= tensor => {
                if leaves {
                    let stop_point = *self.stop_points.entry(view.view).or_insert(tensor);
                    assert_eq!(stop_point, tensor, "{name} leaves view {} elsewhere", view.view);
                    assert!(peers.values().all(|started| *started <= tensor), "{peers:?} beyond {tensor}");
                    self.leave(host, view.view, Some(tensor));
                }
            }
            _ => {
                view.started += 1;
                self.started.get_mut(&view.view).unwrap().insert(name, view.started);
                self.hosts[host].at = At::Running(view);
            }
        }
    }

    /// Lets a host leave its view, which ends its connection.
    fn leave(&mut self, host: usize, view: PlanVersion, stop_point: Option<u32>) {
        let when = self.now + self.rng.random_range(1..20);
        let this = &mut self.hosts[host];
        this.notice = Some((when, this.incarnation));
        this.at = At::Asking(Some(view), stop_point);
    }

    /// Returns whether a member that the host's tensor needs is no longer in the view.
    fn is_stuck(&self, view: &InView) -> bool {
        let is_in = |name: &str| {
            let in_view = |host: &Host| matches!(&host.at, At::Running(other) if other.view == view.view);
            self.hosts.iter().any(|host| host.name == name && in_view(host))
        };
        let lacks = |(name, started): (&String, &u32)| *started <= view.completed && !is_in(name);
        self.started[&view.view].iter().any(lacks) || !["s1", "s2"].iter().any(|server| is_in(server))
    }
}

/// Behaves as `ViewEnd` of the hosts. Returns whether the host holds.
fn on_ending(view: &mut InView) -> bool {
    let refuses = |tensor: u32| view.started > tensor;
    match (view.heard, view.limit) {
        (Ending::Now, _) => view.is_over = true,
        (_, Some((_, true))) => {}
        (Ending::None | Ending::Prepare, _) => view.limit = None,
        (Ending::Before(tensor) | Ending::Agreed(tensor), _) if refuses(tensor) => {
            view.limit = None;
            return false;
        }
        (Ending::Before(tensor), _) => view.limit = Some((tensor, false)),
        (Ending::Agreed(tensor), _) => view.limit = Some((tensor, true)),
    }
    true
}

#[test]
fn randomly_failing_hosts_get_into_one_view_again() {
    let (mut views, mut stop_points, mut twins) = (0, 0, 0);
    for seed in 0..150 {
        let mut walk = Walk::new(seed);
        for _ in 0..CHAOS {
            walk.step(true);
        }
        // All run again, and no host fails any more.
        for host in 0..walk.hosts.len() {
            if walk.hosts[host].at == At::Dead {
                walk.strike(host);
            }
        }
        for _ in 0..QUIET {
            walk.step(false);
        }
        let last = PlanVersion::from(walk.views);
        for host in &walk.hosts {
            let is_in = matches!(&host.at, At::Running(view) if view.view == last);
            assert!(is_in, "seed {seed}: {} is at {:?}: {:?}", host.name, host.at, walk.job.status());
        }
        let rounds = |walk: &Walk| walk.hosts[..3].iter().map(|host| host.rounds).max().unwrap();
        let before = rounds(&walk);
        (0..400).for_each(|_| walk.step(false));
        assert!(rounds(&walk) > before, "seed {seed}: no round in 20 s: {:?}", walk.job.status());
        views += u64::from(walk.views);
        stop_points += walk.stop_points.len();
        twins += walk.twins_refused;
    }
    eprintln!("{views} views, {stop_points} stop points, {twins} twins refused");
    assert!(
        views > 600 && stop_points > 100 && twins > 100,
        "{views} views, {stop_points} stop points, {twins} twins"
    );
}
