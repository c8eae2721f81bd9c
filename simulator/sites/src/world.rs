//! Drivers and a scheduler in virtual time.

mod ends;
mod faults;
mod hostile;
mod messages;
mod states;
mod strangers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options as PlanOptions, Sharing};
use inart_protocol_sites::{Policy, SiteNo};
use inart_sites_agent::{Driver, Output, Peer, SchedulerProcess, Setup, TrainingState};
use inart_topologies::sites::Overlay;
use inart_virtual::Timeline;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::Audit;
use crate::connections::{Connections, Pair};
use crate::error::SimulationError;
use crate::fault::{Fault, OtherDocument, PlannedFault};
use crate::outcome::{Consequence, Outcome, RoundTime};
use crate::traffic::Traffic;

/// How often drivers are told of the time, in seconds.
const TICK_S: f64 = 0.2;
/// A connection to a peer that says nothing for so long has ended (as in `inart-quic`), in seconds.
const IDLE_S: f64 = 5.0;
/// How long it takes to connect, in seconds.
const CONNECT_S: f64 = 0.1;
/// To or from the scheduler, in seconds.
const SCHEDULER_S: f64 = 0.03;
/// When nothing ends for so long after the last fault, something is wrong, in virtual seconds.
const STUCK_S: f64 = 3600.0;
/// A site that wants more than this at one time never has nothing to do.
const MOST_OUTPUTS: usize = 100_000;

/// What the scheduler knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// The rates at the start.
    Static,
    /// What sites measure.
    Passive,
}

/// When traces begin, whose time 0 is then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// When the processes start.
    FromTheStart,
    /// When the first site begins the first round with values.
    FromTheFirstRound,
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How to plan.
    pub plan: PlanOptions,
    /// How auxiliary paths are used, where the plan has them.
    pub auxiliary: AuxiliaryUse,
    /// How chunks share a link: by fluid lanes, or one by one in the order that senders choose.
    pub sharing: Sharing,
    /// When rates begin to follow their traces.
    pub traces: Traces,
    /// What the scheduler knows.
    pub knowledge: Knowledge,
    /// What a link counts as that nobody has measured, in bit/s.
    pub prior_bps: f64,
    /// How long a site takes from a sum to its next gradient, in seconds.
    pub compute_s: f64,
    /// How many rounds.
    pub rounds: u32,
    /// Length of the training program's state, in bytes, which a site that restarts loads from another one.
    pub state_bytes: usize,
    /// Decides the gradients, and what sites that speak as others send.
    pub seed: u64,
}

#[derive(Debug)]
enum Event {
    Tick,
    Rates,
    Begins(usize),
    Ends(usize),
    /// Both ends have waited for an answer long enough.
    Silent(Peer, Peer, u64),
    Connect(Peer, Peer),
    /// A site has its gradient of a round.
    Computed {
        site: usize,
        round: u32,
    },
    /// A message that is no chunk.
    Arrives {
        from: Peer,
        to: Peer,
        connection: u64,
        id: u64,
        data: Bytes,
    },
    /// A message in the name of another site, or that nobody asked for.
    Forged {
        by: SiteNo,
        /// The site in whose name it is.
        name: Option<SiteNo>,
        to: SiteNo,
        connection: u64,
        data: Bytes,
    },
    /// The receiver's answer.
    Delivered {
        from: SiteNo,
        connection: u64,
        id: u64,
    },
}

/// A site's process.
struct Process {
    driver: Driver,
    /// The round whose gradient it is computing.
    computing: Option<u32>,
    /// Messages whose answers have not come, and their connections.
    open: BTreeMap<u64, (Peer, u64)>,
}

struct World<'o> {
    overlay: Arc<Overlay>,
    options: Options,
    setups: Vec<Arc<Setup>>,
    sites: Vec<Option<Process>>,
    scheduler: Option<SchedulerProcess>,
    connections: Connections,
    traffic: Traffic<'o>,
    events: Timeline<Event, u64>,
    faults: Vec<PlannedFault>,
    audit: Audit,
    /// Plans by version.
    plans: BTreeMap<u64, Arc<Policy>>,
    /// Of each round, when sites had its sum.
    ends: BTreeMap<u32, (BTreeSet<usize>, f64, u64)>,
    done: BTreeSet<usize>,
    last_end_s: f64,
    outcome: Outcome,
    failure: Option<SimulationError>,
    /// Sites that have ended early, by the cause.
    ended: BTreeSet<usize>,
    /// Sites that have restarted.
    restarted: BTreeSet<usize>,
    /// When connections ended last.
    cut_s: BTreeMap<Pair, f64>,
    /// By site, the different early chunks that it was sent, while some site repeats itself.
    early: Vec<BTreeSet<(u32, u32, u32, u32)>>,
    /// The document of the scheduler that runs, if it is another one.
    stranger: Option<OtherDocument>,
    /// Plans that every site must refuse.
    refused: Vec<Arc<Policy>>,
    /// By round, the training program's state before it.
    states: BTreeMap<u32, TrainingState>,
    /// By direction, until when parts of states are on a link, in seconds.
    parts_s: BTreeMap<(SiteNo, SiteNo), f64>,
    draws: ChaCha8Rng,
}

/// Runs rounds of the network's first job back to back, while faults happen.
///
/// # Errors
/// Options that no site can be set up with; and what would be a defect: a sum that is not right, rounds that
/// do not end, a training that ends without the name of the cause.
pub fn simulate(
    overlay: &Overlay,
    options: &Options,
    faults: &[PlannedFault],
) -> Result<Outcome, SimulationError> {
    let mut world = World::new(overlay, options, faults)?;
    world.run()?;
    world.check_ends()?;
    Ok(world.finish())
}

fn peer(site: usize) -> Peer {
    Peer::Site(SiteNo(site as u16))
}

impl<'o> World<'o> {
    fn new(
        overlay: &'o Overlay,
        options: &Options,
        faults: &[PlannedFault],
    ) -> Result<Self, SimulationError> {
        let job = &overlay.jobs()[0];
        let first = Setup::new(overlay, job, &overlay.sites()[0], &options.plan, options.auxiliary)?;
        let does_end = faults.iter().any(|planned| planned.ends_because_of().is_some());
        let setup = |(at, name): (usize, &String)| {
            let training = Self::training(options, faults, SiteNo(at as u16));
            let mut setup = first.at(overlay, job, name)?.with_training(training)?;
            if !does_end {
                // The schedule says when each fault ends.
                (setup.meeting_patience, setup.patience) = (Duration::MAX, Duration::MAX);
            }
            Ok(Arc::new(setup))
        };
        let named = overlay.sites().iter().enumerate();
        let setups: Vec<_> = named.map(setup).collect::<Result<_, SimulationError>>()?;
        let first = setups[0].clone();
        let mut world = World {
            overlay: Arc::new(overlay.clone()),
            options: options.clone(),
            sites: setups.iter().map(|_| None).collect(),
            scheduler: None,
            connections: Connections::default(),
            traffic: Traffic::new(overlay, options.sharing),
            events: Timeline::new(),
            faults: faults.to_vec(),
            audit: Audit::new(options.seed, setups.len(), first.tensors.clone()),
            plans: BTreeMap::from([(first.first_policy.version, first.first_policy.clone())]),
            ends: BTreeMap::new(),
            done: BTreeSet::new(),
            last_end_s: 0.0,
            outcome: Outcome {
                scheme: options.plan.scheme.name(),
                began_s: f64::INFINITY,
                ..Outcome::default()
            },
            failure: None,
            ended: BTreeSet::new(),
            restarted: BTreeSet::new(),
            cut_s: BTreeMap::new(),
            early: vec![BTreeSet::new(); setups.len()],
            stranger: None,
            refused: Vec::new(),
            states: BTreeMap::new(),
            parts_s: BTreeMap::new(),
            draws: ChaCha8Rng::seed_from_u64(options.seed ^ 0x0f0e_d0e5),
            setups,
        };
        (0..world.sites.len()).for_each(|site| world.start(Fault::Site(SiteNo(site as u16))));
        world.start(Fault::Scheduler);
        world.connect_all();
        for (at, fault) in faults.iter().enumerate() {
            world.at(fault.at_s, Event::Begins(at));
        }
        if options.traces == Traces::FromTheStart {
            world.begin_traces();
        }
        world.at(TICK_S, Event::Tick);
        Ok(world)
    }

    fn run(&mut self) -> Result<(), SimulationError> {
        while !self.is_over() {
            let next = self.events.next_at().unwrap_or(0);
            let next_s = next as f64 * 1e-9;
            if let Some(arrived) = self.traffic.step(next_s) {
                self.arrived(arrived);
            } else if let Some((_, event)) = self.events.take() {
                self.take(event);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let quiet_s = self.now_s() - self.last_end_s;
            if quiet_s > STUCK_S + self.last_fault_s() {
                return Err(self.stuck(quiet_s));
            }
        }
        Ok(())
    }

    fn last_fault_s(&self) -> f64 {
        self.faults.iter().map(|fault| fault.at_s + fault.lasts_s.unwrap_or(0.0)).fold(0.0, f64::max)
    }

    fn stuck(&self, seconds: f64) -> SimulationError {
        let living = self.sites.iter().enumerate().filter_map(|(at, site)| Some((at, site.as_ref()?)));
        let told: Vec<_> = living
            .map(|(at, site)| format!("{}: {}", self.overlay.sites()[at], site.driver.told()))
            .collect();
        let round = self.ends.keys().next_back().copied().unwrap_or(0) + 1;
        SimulationError::Stuck { round, seconds, told: told.join("; ") }
    }

    fn now_s(&self) -> f64 {
        self.traffic.now_s()
    }

    fn now(&self) -> Duration {
        Duration::from_secs_f64(self.now_s())
    }

    fn at(&mut self, at_s: f64, event: Event) {
        self.events.at((at_s.max(self.now_s()) * 1e9).ceil() as u64, event);
    }

    fn after(&mut self, seconds: f64, event: Event) {
        self.at(self.now_s() + seconds, event);
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Tick => {
                self.after(TICK_S, Event::Tick);
                let now = self.now();
                for site in 0..self.sites.len() {
                    self.tell(site, |driver| driver.tick(now));
                }
                self.connect_all();
            }
            Event::Rates => {
                self.traffic.follow();
                self.wait_for_change();
            }
            Event::Begins(fault) => self.begin(fault),
            Event::Ends(fault) => self.end(fault),
            Event::Silent(a, b, connection) => self.silent(a, b, connection),
            Event::Connect(a, b) => self.connect(a, b),
            Event::Computed { site, round } => self.computed(site, round),
            Event::Arrives { from, to, connection, id, data } => {
                self.arrives(from, to, connection, id, data);
            }
            Event::Forged { by, name, to, connection, data } => self.forged(by, name, to, connection, data),
            Event::Delivered { from, connection, id } => self.delivered(from, connection, id),
        }
    }

    fn begin_traces(&mut self) {
        self.traffic.begin_traces();
        self.wait_for_change();
    }

    fn wait_for_change(&mut self) {
        if let Some(change_s) = self.traffic.next_change_s() {
            self.at(change_s, Event::Rates);
        }
    }

    /// Tells a site something, and does what it wants.
    fn tell(&mut self, site: usize, tell: impl FnOnce(&mut Driver)) {
        if let Some(process) = &mut self.sites[site] {
            tell(&mut process.driver);
            self.carry_out(site);
        }
    }

    fn carry_out(&mut self, at: usize) {
        let mut outputs = 0;
        while let Some(output) = self.sites[at].as_mut().and_then(|site| site.driver.next_output()) {
            let now = self.now();
            outputs += 1;
            if outputs > MOST_OUTPUTS {
                let site = self.overlay.sites()[at].clone();
                self.failure = Some(SimulationError::Busy { site });
                return;
            }
            match output {
                Output::Send { to, id, data, priority } => self.send(at, to, id, data, priority),
                Output::Failed(error) => self.ends_early(at, error),
                Output::Ready { round, training } => {
                    self.outcome.joined += u64::from(training.is_some());
                    if let Some(training) = training {
                        self.loaded(at, round, &training);
                    }
                    self.compute(at, round, now);
                }
                Output::StateWanted { round } => {
                    let state = self.state_before(round);
                    if let Some(site) = &mut self.sites[at] {
                        site.driver.give_state(round, state, now);
                    }
                }
                Output::Ended { training } => {
                    self.loaded(at, self.options.rounds + 1, &training);
                    self.done.insert(at);
                }
                // Gradients are given whole; links that come and go are no reason to warn.
                Output::Summed { .. } | Output::Warned(_) => {}
                Output::Reduced { round, sum } => self.reduced(at, round, &sum, now),
            }
        }
    }

    /// The first gradient, and that after a restart, is there at once.
    fn compute(&mut self, at: usize, round: u32, now: Duration) {
        if round == 1 && self.ends.is_empty() && self.outcome.began_s == f64::INFINITY {
            self.outcome.began_s = self.now_s();
            if self.options.traces == Traces::FromTheFirstRound {
                self.begin_traces();
            }
        }
        if self.is_active(Fault::Hangs(SiteNo(at as u16))) {
            return;
        }
        let gradient = self.audit.gradient(at, round);
        let Some(site) = &mut self.sites[at] else { return };
        if let Err(error) = site.driver.all_reduce(gradient, now) {
            let site = self.overlay.sites()[at].clone();
            self.failure = Some(SimulationError::Site { site, error });
        }
    }

    fn reduced(&mut self, at: usize, round: u32, sum: &[f32], now: Duration) {
        if !self.audit.is_right(round, sum) {
            let site = self.overlay.sites()[at].clone();
            self.failure = Some(SimulationError::Sum { site, round });
            return;
        }
        let now_s = self.now_s();
        let state = (round >= self.options.rounds).then(|| self.state_before(round + 1));
        let Some(site) = &mut self.sites[at] else { return };
        let followed = site.driver.policy();
        // Plans of two schedulers may have one version.
        let is_offered = self.plans.get(&followed.version).is_some_and(|plan| **plan == *followed);
        if !is_offered && self.refused.iter().any(|plan| **plan == *followed) {
            let site = self.overlay.sites()[at].clone();
            self.failure = Some(SimulationError::Plan { site, round });
            return;
        }
        let entry = self.ends.entry(round).or_insert((BTreeSet::new(), now_s, site.driver.policy_version()));
        entry.0.insert(at);
        entry.1 = now_s;
        self.last_end_s = now_s;
        let Some(state) = state else {
            if self.options.compute_s <= 0.0 {
                return self.compute(at, round + 1, now);
            }
            site.computing = Some(round + 1);
            return self.after(self.options.compute_s, Event::Computed { site: at, round: round + 1 });
        };
        self.done.insert(at);
        if let Err(error) = site.driver.finish(state, now) {
            let site = self.overlay.sites()[at].clone();
            self.failure = Some(SimulationError::Site { site, error });
        }
    }

    /// What died while it computed, and has begun anew, computes what it is told.
    fn computed(&mut self, at: usize, round: u32) {
        let Some(site) = &mut self.sites[at] else { return };
        if site.computing.take_if(|computing| *computing == round).is_some() {
            let now = self.now();
            self.compute(at, round, now);
            self.carry_out(at);
        }
    }

    fn finish(mut self) -> Outcome {
        let mut before_s = 0.0;
        for (&round, &(_, ended_s, version)) in &self.ends {
            self.outcome.rounds.push(RoundTime { round, ended_s, seconds: ended_s - before_s, version });
            before_s = ended_s;
        }
        self.outcome.mean_s = before_s / self.outcome.rounds.len().max(1) as f64;
        let living = self.sites.iter().flatten();
        self.outcome.asks = living.map(|site| site.driver.counters().1.asks).sum();
        self.outcome.values_compared = self.audit.values;
        self.outcome.plans = self.plans.len() as u64 - 1;
        let mut consequences = std::mem::take(&mut self.outcome.faults);
        for consequence in &mut consequences {
            self.follow_up(consequence);
        }
        self.outcome.faults = consequences;
        self.outcome
    }
}
