//! Drivers, a scheduler and links in virtual time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_overlay::{AuxiliaryUse, Options, Overlay, Scheme};
use inart_site_agent::message::{Body, decode, encode};
use inart_site_agent::policy_message::policy_message;
use inart_site_agent::{Driver, Output, Peer, Scheduler, Setup};
use inart_sites::SiteNo;
use inart_wire::Exponent;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::reference::Chunk;

/// After so long nothing more is expected.
const END_S: f64 = 600.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    Link(usize),
    Site(u16),
    Scheduler,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub asks: u64,
    pub answered: u64,
    pub malformed: u64,
    pub failed: u64,
    /// Sites that loaded another's state.
    pub joined: u64,
    /// Rounds in which a site gave its chunks one by one.
    pub by_chunk: u64,
    /// The newest version that a site followed.
    pub version: u64,
    /// When the last site had the last sum, in virtual seconds.
    pub ended_s: f64,
}

#[derive(Debug)]
enum Event {
    Arrives {
        from: Peer,
        to: Peer,
        life: u64,
        id: u64,
        data: Bytes,
        started: f64,
    },
    /// To the sender.
    Delivered {
        at: SiteNo,
        life: u64,
        id: u64,
    },
    Failed {
        at: SiteNo,
        life: u64,
        id: u64,
    },
    /// Both ends learn it.
    Connect(Peer, Peer),
    Begins(Fault),
    Ends(Fault),
    Computed {
        at: SiteNo,
        life: u64,
        round: u32,
    },
    Tick,
}

struct Site {
    driver: Driver,
    weights: Vec<f32>,
    /// Counts restarts; 0 while it is dead.
    life: u64,
}

pub struct World {
    overlay: Arc<Overlay>,
    scheme: Scheme,
    setups: Vec<Arc<Setup>>,
    sites: Vec<Option<Site>>,
    lives: u64,
    scheduler: Option<Scheduler>,
    connections: BTreeSet<(Peer, Peer)>,
    down_links: BTreeSet<(u16, u16)>,
    down_counts: BTreeMap<String, u32>,
    events: BTreeMap<(u64, u64), Event>,
    serial: u64,
    /// Nanoseconds.
    now: u64,
    /// By direction, when the last message arrives: they keep their order.
    busy: BTreeMap<(Peer, Peer), u64>,
    draws: ChaCha8Rng,
    chunks: Vec<Chunk>,
    /// By round: what the sum has to be, and the weights before it.
    rounds: Vec<Vec<f32>>,
    /// By site and round: the chunks' sums that were told one by one.
    told: BTreeMap<(usize, u32), BTreeMap<usize, Vec<f32>>>,
    reference: Vec<f32>,
    last_round: u32,
    outcome: Outcome,
    /// Sites that have had the sum of the last round.
    done: BTreeSet<usize>,
}

fn gradient(weights: &[f32], site: u16, round: u32) -> Vec<f32> {
    let value = |(at, weight): (usize, &f32)| {
        let mut draws =
            ChaCha8Rng::seed_from_u64(u64::from(site) << 48 | u64::from(round) << 24 | (at as u64 / 7));
        let size = [1.0, 1e-3, 1e3, 0.0][(at / 50 + round as usize) % 4];
        draws.random_range(-1.0f32..1.0) * size + weight * 0.01
    };
    weights.iter().enumerate().map(value).collect()
}

fn apply(weights: &mut [f32], sum: &[f32]) {
    weights.iter_mut().zip(sum).for_each(|(weight, sum)| *weight -= 0.05 * sum);
}

fn state(weights: &[f32]) -> Bytes {
    weights.iter().flat_map(|weight| weight.to_le_bytes()).collect()
}

fn peer(site: usize) -> Peer {
    Peer::Site(SiteNo(site as u16))
}

impl World {
    pub fn new(overlay: Overlay, scheme: Scheme, seed: u64) -> Self {
        let options = Options::new(scheme);
        let job = &overlay.jobs()[0];
        let setup = |name: &String| {
            Arc::new(Setup::new(&overlay, job, name, &options, AuxiliaryUse::default()).unwrap())
        };
        let setups: Vec<_> = overlay.sites().iter().map(setup).collect();
        let values = setups[0].values();
        let count = setups.len();
        let chunks = setups[0].chunk_values.iter().map(|_| Chunk::new(count)).collect();
        let overlay = Arc::new(overlay);
        let mut world = World {
            scheme,
            sites: (0..count).map(|_| None).collect(),
            lives: 0,
            scheduler: None,
            connections: BTreeSet::new(),
            down_links: BTreeSet::new(),
            down_counts: BTreeMap::new(),
            events: BTreeMap::new(),
            serial: 0,
            now: 0,
            busy: BTreeMap::new(),
            draws: ChaCha8Rng::seed_from_u64(seed ^ 0x5eed),
            chunks,
            rounds: vec![Vec::new()],
            told: BTreeMap::new(),
            reference: vec![0.5; values],
            last_round: 0,
            outcome: Outcome::default(),
            done: BTreeSet::new(),
            setups,
            overlay,
        };
        for site in 0..count {
            let at = world.draws.random_range(0.0..1.0);
            world.at(at, Event::Ends(Fault::Site(site as u16)));
        }
        let at = world.draws.random_range(0.0..1.0);
        world.at(at, Event::Ends(Fault::Scheduler));
        world.at(0.2, Event::Tick);
        world
    }

    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    pub fn links(&self) -> usize {
        self.overlay.links().len()
    }

    /// A site and those that it has a link to, if there are others besides.
    pub fn neighbourhood(&self, site: u16) -> Option<Vec<u16>> {
        let neighbours = &self.setups[usize::from(site)].neighbours[usize::from(site)];
        let all: Vec<u16> = neighbours.iter().map(|neighbour| neighbour.0).chain([site]).collect();
        (all.len() < self.sites.len()).then_some(all)
    }

    pub fn plan_fault(&mut self, at: f64, lasts: f64, fault: Fault) {
        self.at(at + 1.5, Event::Begins(fault));
        self.at(at + 1.5 + lasts, Event::Ends(fault));
    }

    /// Runs until all sites have the sums of all rounds.
    pub fn run(mut self, rounds: u32) -> Outcome {
        self.last_round = rounds;
        while self.done.len() < self.sites.len() {
            let ((at, _), event) = self.events.pop_first().unwrap();
            self.now = at;
            if self.now_s() > END_S {
                self.complain();
            }
            self.take(event);
        }
        self.outcome.ended_s = self.now_s();
        self.outcome
    }

    fn complain(&self) -> ! {
        let living = self.sites.iter().enumerate().filter_map(|(at, site)| Some((at, site.as_ref()?)));
        let all: Vec<_> = living
            .map(|(at, site)| format!("site {at}, done {}: {}", self.done.contains(&at), site.driver.told()))
            .collect();
        panic!("a round does not end; scheme {}\n{}", self.scheme.name(), all.join("\n"));
    }

    fn now_s(&self) -> f64 {
        self.now as f64 * 1e-9
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    fn at(&mut self, in_seconds: f64, event: Event) {
        self.serial += 1;
        let at = self.now + (in_seconds * 1e9) as u64;
        self.events.insert((at, self.serial), event);
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Tick => {
                self.at(0.2, Event::Tick);
                let now = self.now();
                for at in 0..self.sites.len() {
                    if let Some(site) = &mut self.sites[at] {
                        site.driver.tick(now);
                        self.carry_out(at);
                    }
                }
                self.connect_all();
            }
            Event::Connect(a, b) => self.connect(a, b),
            Event::Begins(fault) => self.begin(fault),
            Event::Ends(fault) => self.end(fault),
            Event::Arrives { from, to, life, id, data, started } => {
                self.arrive(from, to, life, id, data, started)
            }
            Event::Delivered { at, life, id } => self.told(at, life, |driver, now| driver.delivered(id, now)),
            Event::Failed { at, life, id } => self.told(at, life, |driver, now| driver.failed(id, now)),
            Event::Computed { at, life, round } => self.computed(at, life, round),
        }
    }

    fn told(&mut self, at: SiteNo, life: u64, tell: impl FnOnce(&mut Driver, Duration)) {
        let now = self.now();
        if let Some(site) = self.sites[at.index()].as_mut().filter(|site| site.life == life) {
            tell(&mut site.driver, now);
            self.carry_out(at.index());
        }
    }

    fn begin(&mut self, fault: Fault) {
        *self.down_counts.entry(format!("{fault:?}")).or_default() += 1;
        match fault {
            Fault::Link(link) => {
                let [a, b] = self.overlay.links()[link].ends.map(|end| end.index() as u16);
                self.down_links.insert((a.min(b), a.max(b)));
                self.disconnect(peer(a.into()), peer(b.into()));
            }
            Fault::Site(site) => {
                self.sites[usize::from(site)] = None;
                let all: Vec<_> = self.connections.iter().copied().collect();
                for (a, b) in
                    all.into_iter().filter(|&(a, b)| a == peer(site.into()) || b == peer(site.into()))
                {
                    self.disconnect(a, b);
                }
            }
            Fault::Scheduler => {
                self.scheduler = None;
                let all: Vec<_> = self.connections.iter().copied().collect();
                for (a, b) in all.into_iter().filter(|&(_, b)| b == Peer::Scheduler) {
                    self.disconnect(a, b);
                }
            }
        }
    }

    fn end(&mut self, fault: Fault) {
        let count = self.down_counts.entry(format!("{fault:?}")).or_insert(1);
        *count = count.saturating_sub(1);
        if *count > 0 {
            return;
        }
        self.lives += 1;
        match fault {
            Fault::Link(link) => {
                let [a, b] = self.overlay.links()[link].ends.map(|end| end.index() as u16);
                self.down_links.remove(&(a.min(b), a.max(b)));
            }
            Fault::Site(site) if self.sites[usize::from(site)].is_none() => {
                let setup = self.setups[usize::from(site)].clone();
                let weights = vec![0.5; setup.values()];
                self.told.retain(|&(of, _), _| of != usize::from(site));
                self.sites[usize::from(site)] =
                    Some(Site { driver: Driver::new(setup), weights, life: self.lives });
            }
            Fault::Site(_) => {}
            Fault::Scheduler => {
                let job = self.overlay.jobs()[0].clone();
                let options = Options::new(self.scheme);
                self.scheduler = Some(Scheduler::new(self.overlay.clone(), job, options, 5e6));
            }
        }
        self.connect_all();
    }

    /// Connects whoever can be and is not.
    fn connect_all(&mut self) {
        let mut pairs: Vec<(Peer, Peer)> = Vec::new();
        for link in self.overlay.links() {
            let [a, b] = link.ends.map(|end| end.index());
            pairs.push((peer(a.min(b)), peer(a.max(b))));
        }
        pairs.extend((0..self.sites.len()).map(|site| (peer(site), Peer::Scheduler)));
        for (a, b) in pairs {
            if self.can_connect(a, b) && !self.connections.contains(&(a, b)) {
                let delay = self.draws.random_range(0.01..0.3);
                self.at(delay, Event::Connect(a, b));
            }
        }
    }

    fn can_connect(&self, a: Peer, b: Peer) -> bool {
        let lives = |peer: Peer| match peer {
            Peer::Site(site) => self.sites[site.index()].is_some(),
            Peer::Scheduler => self.scheduler.is_some(),
        };
        let is_down = match (a, b) {
            (Peer::Site(a), Peer::Site(b)) => self.down_links.contains(&(a.0, b.0)),
            _ => false,
        };
        lives(a) && lives(b) && !is_down
    }

    fn connect(&mut self, a: Peer, b: Peer) {
        if !self.can_connect(a, b) || self.connections.contains(&(a, b)) {
            return;
        }
        self.lives += 1;
        self.connections.insert((a, b));
        let now = self.now();
        for (me, other) in [(a, b), (b, a)] {
            match me {
                Peer::Site(site) => {
                    self.sites[site.index()].as_mut().unwrap().driver.up(other, now);
                    self.carry_out(site.index());
                }
                Peer::Scheduler => {
                    let offered = self.scheduler.as_ref().and_then(|scheduler| scheduler.offered().cloned());
                    if let Some(policy) = offered {
                        self.transmit(me, other, u64::MAX, encode(Body::Offer(policy_message(&policy))));
                    }
                }
            }
        }
    }

    /// What is on the connection is lost; who sent it learns that, and that the connection has ended.
    fn disconnect(&mut self, a: Peer, b: Peer) {
        if !self.connections.remove(&(a, b)) {
            return;
        }
        let on_it = |event: &Event| match event {
            Event::Arrives { from, to, .. } => (*from, *to) == (a, b) || (*from, *to) == (b, a),
            _ => false,
        };
        let keys: Vec<_> =
            self.events.iter().filter(|(_, event)| on_it(event)).map(|(&key, _)| key).collect();
        let mut failed = VecDeque::new();
        for key in keys {
            if let Some(Event::Arrives { from: Peer::Site(from), id, .. }) = self.events.remove(&key) {
                failed.push_back((from, id));
            }
        }
        // Failures and the end of the connection come in either order.
        let down_first = self.draws.random_bool(0.5);
        let now = self.now();
        let down = |world: &mut World| {
            for (me, other) in [(a, b), (b, a)] {
                if let Peer::Site(site) = me
                    && let Some(state) = &mut world.sites[site.index()]
                {
                    state.driver.down(other, now);
                    world.carry_out(site.index());
                }
            }
        };
        if down_first {
            down(self);
        }
        for (from, id) in failed {
            let life = self.sites[from.index()].as_ref().map_or(0, |site| site.life);
            self.told(from, life, |driver, now| driver.failed(id, now));
        }
        if !down_first {
            down(self);
        }
    }

    fn transmit(&mut self, from: Peer, to: Peer, id: u64, data: Bytes) {
        let pair = (from.min(to), from.max(to));
        let life = match from {
            Peer::Site(site) => self.sites[site.index()].as_ref().map_or(0, |site| site.life),
            Peer::Scheduler => 0,
        };
        if !self.connections.contains(&pair) {
            if let Peer::Site(at) = from {
                self.at(0.0, Event::Failed { at, life, id });
            }
            return;
        }
        // Messages to a neighbour mostly keep their order, as those of a QUIC connection.
        let takes = self.draws.random_range(0.001..0.08);
        let after = self.busy.get(&(from, to)).copied().unwrap_or(0).max(self.now);
        let arrives = after + self.draws.random_range(0..5_000_000) + (takes * 1e8) as u64;
        self.busy.insert((from, to), arrives);
        let jitter = if self.draws.random_bool(0.2) { self.draws.random_range(0.0..0.05) } else { 0.0 };
        let in_seconds = (arrives - self.now) as f64 * 1e-9 + 0.01 + jitter;
        let started = self.now_s() + in_seconds * 0.5;
        self.at(in_seconds, Event::Arrives { from, to, life, id, data, started });
    }

    fn arrive(&mut self, from: Peer, to: Peer, life: u64, id: u64, data: Bytes, started: f64) {
        let (now, began) = (self.now(), Duration::from_secs_f64(started));
        if let Peer::Site(at) = from {
            self.at(0.01, Event::Delivered { at, life, id });
        }
        match to {
            Peer::Site(site) => {
                if let Some(state) = &mut self.sites[site.index()] {
                    if let Peer::Site(neighbour) = from {
                        let seconds = (now.saturating_sub(began)).as_secs_f64();
                        state.driver.measured(neighbour, data.len() as f64 * 8.0, seconds);
                    }
                    state.driver.message(from, data, now);
                    self.carry_out(site.index());
                }
            }
            Peer::Scheduler => self.report(from, data),
        }
    }

    fn report(&mut self, from: Peer, data: Bytes) {
        let (Peer::Site(site), Some(scheduler)) = (from, &mut self.scheduler) else { return };
        let Ok(Body::Report(report)) = decode(data) else { return };
        scheduler.report(site, &report);
        let Some(task) = scheduler.task() else { return };
        // Links that are down may leave sites apart.
        let Ok(policy) = task.plan() else { return };
        policy.check().unwrap();
        let Some(policy) = scheduler.planned(policy) else { return };
        let data = encode(Body::Offer(policy_message(&policy)));
        for to in 0..self.sites.len() {
            if self.draws.random_bool(0.9) {
                self.transmit(Peer::Scheduler, peer(to), u64::MAX, data.clone());
            }
        }
    }

    fn carry_out(&mut self, at: usize) {
        loop {
            let Some(site) = &mut self.sites[at] else { return };
            let Some(output) = site.driver.next_output() else { return };
            let life = site.life;
            match output {
                Output::Send { to, id, data, .. } => self.transmit(peer(at), to, id, data),
                Output::Failed(error) => panic!("site {at}: {error}"),
                Output::Ready { round, training } => {
                    if let Some(state) = training {
                        self.outcome.joined += 1;
                        // It computes the round anew, and is told all of its sums.
                        self.told.retain(|&(of, _), _| of != at);
                        let floats = state.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
                        site.weights = floats.collect();
                    }
                    self.compute(at, life, round);
                }
                Output::StateWanted { round } => {
                    let now = Duration::from_nanos(self.now);
                    site.driver.give_state(round, &state(&site.weights), now);
                }
                Output::Ended { training } => {
                    let last = self.last_round;
                    assert_eq!(self.rounds.len(), last as usize + 1, "the last round is over");
                    assert_eq!(training, state(&self.reference), "site {at} has the last weights");
                    self.done.insert(at);
                }
                Output::Summed { round, chunk, values, exponent } => {
                    self.summed(at, round, chunk, &values, exponent);
                }
                Output::Reduced { round, sum } => self.reduced(at, life, round, &sum),
            }
        }
    }

    fn compute(&mut self, at: usize, life: u64, round: u32) {
        let takes = self.draws.random_range(0.0..0.5);
        self.at(takes, Event::Computed { at: SiteNo(at as u16), life, round });
    }

    fn computed(&mut self, at: SiteNo, life: u64, round: u32) {
        let now = self.now();
        let Some(site) = self.sites[at.index()].as_mut().filter(|site| site.life == life) else { return };
        let gradient = gradient(&site.weights, at.0, round);
        // Every third site that never died gives its chunks one by one, the last ones first every other time.
        let is_by_chunk = (u32::from(at.0) + round).is_multiple_of(3) && life == 1;
        if !is_by_chunk || site.driver.begin(now).is_err() {
            site.driver.all_reduce(gradient, now).unwrap();
            return self.carry_out(at.index());
        }
        let mut first = 0;
        let mut chunks = Vec::new();
        for (chunk, &values) in self.setups[0].chunk_values.iter().enumerate() {
            chunks.push((chunk, &gradient[first..first + values]));
            first += values;
        }
        if round.is_multiple_of(2) {
            chunks.reverse();
        }
        for (chunk, values) in chunks {
            let Some(site) = &mut self.sites[at.index()] else { return };
            site.driver.contribute(chunk, values, now).unwrap();
            self.carry_out(at.index());
        }
        self.outcome.by_chunk += 1;
    }

    /// A chunk's sum, told before the round's.
    fn summed(&mut self, at: usize, round: u32, chunk: usize, values: &[i32], exponent: Exponent) {
        let read = |value: &i32| (f64::from(*value) * 2f64.powi(exponent.into())) as f32;
        let of_round = self.told.entry((at, round)).or_default();
        assert!(of_round.insert(chunk, values.iter().map(read).collect()).is_none(), "told once");
    }

    fn reduced(&mut self, at: usize, life: u64, round: u32, sum: &[f32]) {
        while self.rounds.len() <= round as usize {
            let next = self.rounds.len() as u32;
            let expected = self.expected(next);
            apply(&mut self.reference, &expected);
            self.rounds.push(expected);
        }
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(sum), bits(&self.rounds[round as usize]), "site {at}, round {round}");
        if let Some(told) = self.told.remove(&(at, round)) {
            let told: Vec<f32> = told.into_values().flatten().collect();
            assert_eq!(bits(&told), bits(sum), "site {at}, round {round}, chunk by chunk");
        }
        let (last, site) = (self.last_round, self.sites[at].as_mut().unwrap());
        apply(&mut site.weights, sum);
        let (seen, agent) = site.driver.counters();
        self.outcome.asks += agent.asks;
        self.outcome.answered += seen.answered;
        self.outcome.malformed += agent.malformed;
        self.outcome.failed += agent.failed;
        self.outcome.version = self.outcome.version.max(site.driver.policy_version());
        if round >= last {
            self.done.insert(at);
            let now = Duration::from_nanos(self.now);
            site.driver.finish(state(&site.weights), now).unwrap();
        } else {
            self.compute(at, life, round + 1);
        }
    }

    fn expected(&mut self, round: u32) -> Vec<f32> {
        let all: Vec<Vec<f32>> =
            (0..self.sites.len()).map(|site| gradient(&self.reference, site as u16, round)).collect();
        let mut sum = Vec::new();
        for (chunk, &values) in self.chunks.iter_mut().zip(&self.setups[0].chunk_values) {
            let first = sum.len();
            let parts: Vec<&[f32]> = all.iter().map(|values_of| &values_of[first..first + values]).collect();
            sum.extend(chunk.sum(&parts));
        }
        sum
    }
}
