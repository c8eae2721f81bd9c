//! The training programs of all sites, and the audit.

mod consequences;
mod ends;
mod forged;
mod states;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use inart_connections::{Machine as _, PeerNo};
use inart_planner_sites::AuxiliaryUse;
use inart_sites_agent::{
    Driver, SchedulerNews, Setup, SetupError, SiteCommand, SiteNews, SiteProcess, TrainingState,
};
use inart_topologies::sites::Overlay;
use inart_world::{Later, Program, Stuck, Transfer};

use crate::agent::{Agent, News};
use crate::audit::Audit;
use crate::common::{Shared, site, time};
use crate::error::SimulationError;
use crate::fault::{Fault, OtherDocument, PlannedFault};
use crate::hostile::ChunkKey;
use crate::options::{Options, Traces};
use crate::outcome::{Outcome, RoundTime};
use crate::schedulers;

/// Cause of the early end of a run.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Error of the simulation.
    Wrong(Box<SimulationError>),
    /// Run that does not end.
    Stuck(Stuck),
}

impl From<Stuck> for Failure {
    fn from(stuck: Stuck) -> Self {
        Failure::Stuck(stuck)
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        Failure::Wrong(Box::new(error))
    }
}

/// End of a round.
#[derive(Debug)]
struct RoundEnd {
    /// Sites that have its sum.
    sites: BTreeSet<usize>,
    /// Time when the last of them had it, in seconds.
    ended_s: f64,
    /// Version of the plan of the first of them.
    version: u64,
}

/// Programs of all sites, and the audit.
pub(crate) struct Training {
    overlay: Arc<Overlay>,
    options: Options,
    setups: Vec<Arc<Setup>>,
    faults: Vec<PlannedFault>,
    /// Documents of schedulers that start, in order; `None` is the sites' document.
    documents: VecDeque<Option<OtherDocument>>,
    shared: Shared,
    audit: Audit,
    ends: BTreeMap<u32, RoundEnd>,
    /// Sites that have the sum of the last round.
    done: BTreeSet<usize>,
    /// Sites that have ended early, by the cause.
    ended: BTreeSet<usize>,
    /// Sites that have restarted.
    restarted: BTreeSet<usize>,
    /// Time of the last disconnection, by both ends, in seconds.
    cut_s: BTreeMap<[PeerNo; 2], f64>,
    /// By site: the distinct early chunks sent to it, while a site sends duplicates.
    early: Vec<BTreeSet<ChunkKey>>,
    /// State of the training program before each round.
    states: BTreeMap<u32, TrainingState>,
    /// Number of messages that the receiver of a forged message had dropped before.
    dropped: u64,
    outcome: Outcome,
}

/// Creates the setups of the sites of the network's first job.
///
/// # Errors
/// Options that are invalid for every site.
pub(crate) fn setups(
    overlay: &Overlay,
    options: &Options,
    faults: &[PlannedFault],
) -> Result<Vec<Arc<Setup>>, SetupError> {
    let (job, auxiliary): (_, AuxiliaryUse) = (&overlay.jobs()[0], options.auxiliary);
    let first = Setup::new(overlay, job, &overlay.sites()[0], &options.plan, auxiliary)?;
    let does_end = faults.iter().any(|planned| planned.ends_because_of().is_some());
    let setup = |(at, name): (usize, &String)| {
        let training = Training::terms(options, faults, site(PeerNo(at as u32)));
        let mut setup = first.at(overlay, job, name)?.with_training(training)?;
        if !does_end {
            // The schedule contains the end of each fault.
            (setup.meeting_patience, setup.patience) = (Duration::MAX, Duration::MAX);
        }
        Ok(Arc::new(setup))
    };
    overlay.sites().iter().enumerate().map(setup).collect()
}

impl Training {
    pub fn new(
        overlay: &Overlay,
        options: &Options,
        faults: &[PlannedFault],
        setups: Vec<Arc<Setup>>,
        documents: VecDeque<Option<OtherDocument>>,
        shared: Shared,
    ) -> Self {
        let policy = setups[0].first_policy.clone();
        shared.borrow_mut().plans.insert(policy.version, policy);
        let scheme = options.plan.scheme.name();
        Training {
            overlay: Arc::new(overlay.clone()),
            options: options.clone(),
            faults: faults.to_vec(),
            documents,
            shared,
            audit: Audit::new(options.seed, setups.len(), setups[0].tensors.clone()),
            ends: BTreeMap::new(),
            done: BTreeSet::new(),
            ended: BTreeSet::new(),
            restarted: BTreeSet::new(),
            cut_s: BTreeMap::new(),
            early: vec![BTreeSet::new(); setups.len()],
            states: BTreeMap::new(),
            dropped: 0,
            outcome: Outcome { scheme, began_s: f64::INFINITY, ..Outcome::default() },
            setups,
        }
    }

    fn site_name(&self, at: usize) -> String {
        self.overlay.sites()[at].clone()
    }

    fn count(&self, what: &'static str) {
        self.shared.borrow_mut().count(what);
    }

    /// Whether a fault is active now.
    fn is_active(&self, fault: Fault, now: Duration) -> bool {
        let now_s = self.shared.borrow().seconds(now);
        self.faults.iter().any(|planned| planned.fault == fault && planned.lasts_at(now_s))
    }

    /// Handles an event of a site.
    fn of_site(
        &mut self,
        at: usize,
        machine: &mut Agent,
        news: SiteNews,
        now: Duration,
        later: &mut Later<SiteCommand>,
    ) -> Result<(), SimulationError> {
        match news {
            SiteNews::Failed(error) => self.ends_early(at, error),
            SiteNews::Ready { round, training } => {
                if let Some(training) = training {
                    self.outcome.joined += 1;
                    self.loaded(at, round, &training)?;
                }
                // The first gradient, and the first one after a restart, is available at once.
                if let Some(gradient) = self.gradient(at, round, now) {
                    machine.command(gradient, now);
                }
                Ok(())
            }
            SiteNews::StateWanted { round } => {
                let training = self.state_before(round);
                machine.command(SiteCommand::State { round, training }, now);
                Ok(())
            }
            SiteNews::Ended { training } => {
                self.loaded(at, self.options.rounds + 1, &training)?;
                self.done.insert(at);
                Ok(())
            }
            // Gradients are passed whole; links that fail and recover are no reason for a warning.
            SiteNews::Summed { .. } | SiteNews::Warned(_) => Ok(()),
            SiteNews::Reduced { round, sum, version } => {
                self.check_sum(at, machine, round, &sum)?;
                self.reduced(at, round, version, now);
                match self.next_order(at, round, now) {
                    Some((0.0, order)) => machine.command(order, now),
                    Some((in_s, order)) => {
                        let until = time(self.shared.borrow().seconds(now) + in_s);
                        later.push((until.saturating_sub(now), order));
                    }
                    None => {}
                }
                Ok(())
            }
        }
    }

    /// Returns the order that passes a site its gradient of a round; `None` if its program hangs.
    fn gradient(&mut self, at: usize, round: u32, now: Duration) -> Option<SiteCommand> {
        if round == 1 && self.ends.is_empty() && self.outcome.began_s == f64::INFINITY {
            let mut common = self.shared.borrow_mut();
            self.outcome.began_s = common.seconds(now);
            if self.options.traces == Traces::FromTheFirstRound {
                common.traces_began_s = Some(self.outcome.began_s);
            }
        }
        let hangs = self.is_active(Fault::Hangs(site(PeerNo(at as u32))), now);
        (!hangs).then(|| SiteCommand::AllReduce(self.audit.gradient(at, round)))
    }

    fn check_sum(
        &mut self,
        at: usize,
        machine: &Agent,
        round: u32,
        sum: &[f32],
    ) -> Result<(), SimulationError> {
        if !self.audit.is_correct(round, sum) {
            return Err(SimulationError::Sum { site: self.site_name(at), round });
        }
        let Some(followed) = machine.driver().map(Driver::policy) else { return Ok(()) };
        let common = self.shared.borrow();
        // Plans of two schedulers may have one version.
        let is_offered = common.plans.get(&followed.version).is_some_and(|plan| **plan == *followed);
        if !is_offered && common.refused.iter().any(|plan| **plan == *followed) {
            return Err(SimulationError::Plan { site: self.site_name(at), round });
        }
        Ok(())
    }

    fn reduced(&mut self, at: usize, round: u32, version: u64, now: Duration) {
        let ended_s = self.shared.borrow().seconds(now);
        let first = || RoundEnd { sites: BTreeSet::new(), ended_s, version };
        let end = self.ends.entry(round).or_insert_with(first);
        end.sites.insert(at);
        end.ended_s = ended_s;
    }

    /// Returns the site's next gradient after a round, with the seconds until it is available, or the end of
    /// its training.
    fn next_order(&mut self, at: usize, round: u32, now: Duration) -> Option<(f64, SiteCommand)> {
        if round >= self.options.rounds {
            self.done.insert(at);
            return Some((0.0, SiteCommand::Finish(self.state_before(round + 1))));
        }
        let compute_s = self.options.compute_s.max(0.0);
        Some((compute_s, self.gradient(at, round + 1, now)?))
    }

    /// Returns the outcome of a run.
    pub fn finish(mut self, machines: &[Option<Agent>]) -> Outcome {
        let mut before_s = 0.0;
        for (&round, &RoundEnd { ended_s, version, .. }) in &self.ends {
            self.outcome.rounds.push(RoundTime { round, ended_s, seconds: ended_s - before_s, version });
            before_s = ended_s;
        }
        self.outcome.mean_s = before_s / self.outcome.rounds.len().max(1) as f64;
        let living = machines.iter().flatten().filter_map(Agent::driver);
        self.outcome.asks = living.map(|driver| driver.counters().1.asks).sum();
        self.outcome.values_compared = self.audit.values;
        self.outcome.plans = {
            let common = self.shared.borrow();
            common.plans.keys().filter(|version| common.offered.contains(version)).count() as u64
        };
        let mut consequences = std::mem::take(&mut self.outcome.faults);
        consequences.iter_mut().for_each(|consequence| self.follow_up(consequence));
        self.outcome.faults = consequences;
        self.outcome.seen = std::mem::take(&mut self.shared.borrow_mut().seen);
        self.outcome
    }

    /// Describes why a run has ended.
    pub fn failure(&self, failure: Failure, machines: &[Option<Agent>], now: Duration) -> SimulationError {
        match failure {
            Failure::Wrong(error) => *error,
            Failure::Stuck(Stuck::Busy(who)) if who.index() < self.setups.len() => {
                SimulationError::Busy { site: self.site_name(who.index()) }
            }
            Failure::Stuck(Stuck::Busy(_)) => SimulationError::Busy { site: "scheduler".to_owned() },
            Failure::Stuck(Stuck::Over(_) | Stuck::Silent(_)) => {
                let error = machines.iter().enumerate().filter_map(|(at, machine)| {
                    let driver = machine.as_ref()?.driver()?;
                    Some(format!("{}: {}", self.overlay.sites()[at], driver.status_text()))
                });
                let last_s = self.ends.values().next_back().map_or(0.0, |end| end.ended_s);
                let round = self.ends.keys().next_back().copied().unwrap_or(0) + 1;
                let seconds = now.as_secs_f64() - last_s;
                SimulationError::Stuck { round, seconds, error: error.collect::<Vec<_>>().join("; ") }
            }
        }
    }
}

impl Program<Agent> for Training {
    type Error = Failure;

    fn start(&mut self, who: PeerNo, now: Duration) -> Result<Agent, Failure> {
        let at = who.index();
        self.shared.borrow_mut().dead.remove(&who);
        let Some(setup) = self.setups.get(at) else {
            let other = self.documents.pop_front().flatten();
            let started = schedulers::start(&self.overlay, &self.options, other);
            return started.map_err(|error| SimulationError::from(SetupError::from(error)).into());
        };
        if now > Duration::ZERO {
            self.restarted.insert(at);
            self.early[at].clear();
        }
        Ok(Agent::Site(Box::new(SiteProcess::new(Driver::new(setup.clone()), self.setups.len()))))
    }

    fn killed(&mut self, who: PeerNo, _machine: Agent) {
        self.done.remove(&who.index());
        self.shared.borrow_mut().dead.insert(who);
    }

    fn disconnected(&mut self, ends: [PeerNo; 2], machines: &[Option<Agent>], now: Duration) {
        self.notice(ends, machines, now);
    }

    fn arrives(&mut self, transfer: &Transfer, machine: &Agent, now: Duration) -> bool {
        self.may_arrive(transfer, machine, now)
    }

    fn taken(&mut self, transfer: &Transfer, machine: &Agent) {
        self.was_taken(transfer, machine);
    }

    fn report(
        &mut self,
        who: PeerNo,
        machine: &mut Agent,
        news: News,
        now: Duration,
        later: &mut Later<SiteCommand>,
    ) -> Result<(), Failure> {
        match news {
            News::Site(news) => Ok(self.of_site(who.index(), machine, news, now, later)?),
            News::Scheduler(SchedulerNews::Offered(policy)) => {
                let mut common = self.shared.borrow_mut();
                match machine {
                    Agent::Stranger(_) => common.refused.push(policy),
                    _ => drop(common.plans.insert(policy.version, policy)),
                }
                Ok(())
            }
            News::Scheduler(SchedulerNews::Warned(_)) => Ok(()),
        }
    }

    fn is_over(&self, machines: &[Option<Agent>]) -> bool {
        self.are_all_over(machines)
    }
}
