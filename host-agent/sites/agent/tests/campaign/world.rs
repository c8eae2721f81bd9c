//! Drivers, a scheduler and links in virtual time.

mod connections;
mod faults;
mod training;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
pub use faults::Fault;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Body, decode, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Driver, Output, Peer, Scheduler, Setup};
use inart_topologies::sites::Overlay;
use inart_virtual::Timeline;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Virtual time at which a run has failed, in seconds.
const END_S: f64 = 600.0;

#[derive(Debug, Default)]
pub struct Outcome {
    pub asks: u64,
    pub answered: u64,
    pub malformed: u64,
    pub failed: u64,
    /// Number of sites that loaded another site's state.
    pub joined: u64,
    /// Number of rounds in which a site passed its chunks one by one.
    pub by_chunk: u64,
    /// Newest version that a site followed.
    pub version: u64,
    /// Virtual time at which the last site had the last sum, in seconds.
    pub ended_s: f64,
}

#[derive(Debug)]
enum Event {
    Arrives {
        from: Peer,
        to: Peer,
        incarnation: u64,
        id: u64,
        data: Bytes,
        started: f64,
    },
    /// Notice of delivery to the sender.
    Delivered {
        at: SiteNo,
        incarnation: u64,
        id: u64,
    },
    Failed {
        at: SiteNo,
        incarnation: u64,
        id: u64,
    },
    /// Connection of both ends.
    Connect(Peer, Peer),
    Begins(Fault),
    Ends(Fault),
    Computed {
        at: SiteNo,
        incarnation: u64,
        round: u32,
    },
    Tick,
}

struct Site {
    driver: Driver,
    weights: Vec<f32>,
    /// Number of restarts; 0 while the site is dead.
    incarnation: u64,
}

pub struct World {
    seed: u64,
    overlay: Arc<Overlay>,
    scheme: Scheme,
    setups: Vec<Arc<Setup>>,
    sites: Vec<Option<Site>>,
    incarnations: u64,
    scheduler: Option<Scheduler>,
    connections: BTreeSet<(Peer, Peer)>,
    down_links: BTreeSet<(u16, u16)>,
    down_counts: BTreeMap<String, u32>,
    events: Timeline<Event, u64>,
    /// Virtual time in nanoseconds.
    now: u64,
    /// Arrival of the last message by direction: messages keep their order.
    busy: BTreeMap<(Peer, Peer), u64>,
    draws: ChaCha8Rng,
    /// Expected sum of each round, and the weights before it.
    rounds: Vec<Vec<f32>>,
    /// Sums of chunks that were received one by one, by site and round.
    chunk_sums: BTreeMap<(usize, u32), BTreeMap<usize, Vec<f32>>>,
    reference: Vec<f32>,
    last_round: u32,
    outcome: Outcome,
    /// Sites that have the sum of the last round.
    done: BTreeSet<usize>,
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
        let first =
            Setup::new(&overlay, job, &overlay.sites()[0], &options, AuxiliaryUse::default()).unwrap();
        let setup = |name: &String| Arc::new(first.at(&overlay, job, name).unwrap());
        let setups: Vec<_> = overlay.sites().iter().map(setup).collect();
        let values = setups[0].values();
        let count = setups.len();
        let overlay = Arc::new(overlay);
        let mut world = World {
            seed,
            scheme,
            sites: (0..count).map(|_| None).collect(),
            incarnations: 0,
            scheduler: None,
            connections: BTreeSet::new(),
            down_links: BTreeSet::new(),
            down_counts: BTreeMap::new(),
            events: Timeline::new(),
            now: 0,
            busy: BTreeMap::new(),
            draws: ChaCha8Rng::seed_from_u64(seed ^ 0x5eed),
            rounds: vec![Vec::new()],
            chunk_sums: BTreeMap::new(),
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

    /// Returns a site and its neighbors; `None` if these are all sites.
    pub fn neighborhood(&self, site: u16) -> Option<Vec<u16>> {
        let neighbors = &self.setups[usize::from(site)].neighbors[usize::from(site)];
        let all: Vec<u16> = neighbors.iter().map(|neighbor| neighbor.0).chain([site]).collect();
        (all.len() < self.sites.len()).then_some(all)
    }

    /// Runs until all sites have the sums of all rounds.
    pub fn run(mut self, rounds: u32) -> Outcome {
        self.last_round = rounds;
        while self.done.len() < self.sites.len() {
            let (at, event) = self.events.take().unwrap();
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
            .map(|(at, site)| {
                format!("site {at}, done {}: {}", self.done.contains(&at), site.driver.status_text())
            })
            .collect();
        panic!("seed {}: a round does not end; scheme {}\n{}", self.seed, self.scheme.name(), all.join("\n"));
    }

    fn now_s(&self) -> f64 {
        self.now as f64 * 1e-9
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.now)
    }

    fn at(&mut self, in_seconds: f64, event: Event) {
        self.events.at(self.now + (in_seconds * 1e9) as u64, event);
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
            Event::Arrives { from, to, incarnation, id, data, started } => {
                self.arrive(from, to, incarnation, id, data, started)
            }
            Event::Delivered { at, incarnation, id } => {
                self.notify(at, incarnation, |driver, now| driver.delivered(id, now))
            }
            Event::Failed { at, incarnation, id } => {
                self.notify(at, incarnation, |driver, now| driver.failed(id, now))
            }
            Event::Computed { at, incarnation, round } => self.computed(at, incarnation, round),
        }
    }

    fn notify(&mut self, at: SiteNo, incarnation: u64, event: impl FnOnce(&mut Driver, Duration)) {
        let now = self.now();
        if let Some(site) = self.sites[at.index()].as_mut().filter(|site| site.incarnation == incarnation) {
            event(&mut site.driver, now);
            self.carry_out(at.index());
        }
    }

    fn report(&mut self, from: Peer, data: Bytes) {
        let (Peer::Site(site), Some(scheduler)) = (from, &mut self.scheduler) else { return };
        let Ok(Body::Report(report)) = decode(data) else { return };
        scheduler.report(site, &report);
        let Some(task) = scheduler.task() else { return };
        // Failed links may separate sites.
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
            let incarnation = site.incarnation;
            match output {
                Output::Send { to, id, data, .. } => self.transmit(peer(at), to, id, data),
                Output::Failed(error) => panic!("site {at}: {error}"),
                Output::Warned(text) => panic!("seed {}, site {at}: {text}", self.seed),
                Output::Ready { round, training } => {
                    if let Some(state) = training {
                        self.outcome.joined += 1;
                        // The site recomputes the round from scratch, and receives all of its sums.
                        self.chunk_sums.retain(|&(of, _), _| of != at);
                        let floats = state.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
                        site.weights = floats.collect();
                    }
                    self.compute(at, incarnation, round);
                }
                Output::StateWanted { round } => {
                    let now = Duration::from_nanos(self.now);
                    site.driver.give_state(round, state(&site.weights), now);
                }
                Output::Ended { training } => {
                    let last = self.last_round;
                    assert_eq!(self.rounds.len(), last as usize + 1, "the last round is over");
                    assert_eq!(training, state(&self.reference), "site {at} has the last weights");
                    self.done.insert(at);
                }
                Output::Summed { round, chunk, values } => self.summed(at, round, chunk, values),
                Output::Reduced { round, sum } => self.reduced(at, incarnation, round, &sum),
            }
        }
    }
}
