//! Runs a trial: starts and kills controllers, and injects switch faults, each at its time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use inart_controller::daemon::{self, Config, DaemonError, State};
use inart_controller::{InstallError, JobPlan, PortMap, Records, job_number};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_targets::{Endpoint, Precedence};
use inart_wire::{JobId, PlanVersion};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::subscriber::{NoSubscriber, with_default};

use super::duty::Duty;
use super::ledger::Entry;
use super::plant::Plant;
use super::session::Client;
use super::trial::{Fault, Outcome, Trial};
use crate::{Dataplane, Error};

/// Time that faults without an end last after the start of the last fault.
const QUIET: Duration = Duration::from_secs(20);
/// Start of a trial, in microseconds since 1970.
const CLOCK: u128 = 1_700_000_000_000_000;
/// Lag of a clock that is behind.
const BEHIND: Duration = Duration::from_secs(3600);

/// A controller process.
pub(super) struct Process {
    pub machine: usize,
    /// Index of its plan set.
    pub set: usize,
    pub state: Arc<State>,
    pub task: JoinHandle<DaemonError>,
    /// Error with which it ended.
    pub ended: Option<DaemonError>,
    pub was_killed: bool,
    pub started: Instant,
    /// Time at which its end was noticed.
    pub over: Option<Instant>,
}

impl Process {
    pub fn is_alive(&self) -> bool {
        !self.was_killed && self.ended.is_none()
    }
}

/// A running trial.
pub(super) struct World<'a> {
    pub trial: &'a Trial,
    pub dataplane: &'a Arc<Dataplane>,
    pub sets: Vec<Vec<JobPlan>>,
    pub ports: PortMap,
    pub plant: Plant,
    pub processes: Vec<Process>,
    /// Records, by machine.
    pub records: Vec<Records>,
    pub outcome: Outcome,
    /// Plan versions that hosts use.
    pub duties: Vec<Duty>,
    /// Plan versions that the records of a machine have known, by machine.
    pub mentioned: BTreeSet<(usize, JobId, PlanVersion)>,
    pub began: Instant,
}

/// Runs a trial in a separate runtime whose clock advances only when all tasks are idle.
pub(super) fn run(trial: &Trial, dataplane: &Arc<Dataplane>, sets: Vec<Vec<Plan>>) -> Result<Outcome, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime =
        runtime.map_err(|error| Error::Option { option: "soak", problem: format!("no runtime: {error}") })?;
    // Controllers log every fault, and a trial consists of faults.
    with_default(NoSubscriber::default(), || {
        LocalSet::new().block_on(&runtime, async {
            let mut world = World::new(trial, dataplane, sets)?;
            let failure = world.run().await?;
            world.outcome.failure = failure.err();
            world.outcome.tally.add(&world.plant.lock().tally);
            Ok(world.outcome)
        })
    })
}

impl<'a> World<'a> {
    fn new(trial: &'a Trial, dataplane: &'a Arc<Dataplane>, sets: Vec<Vec<Plan>>) -> Result<Self, Error> {
        let topology = &trial.topology;
        let job = |plan: Plan| {
            let job = job_number(topology, &plan.job).ok_or_else(|| Error::NoJob {
                job: plan.job.clone(),
                topology: topology.name().to_owned(),
            })?;
            let window_chunks = trial.window_chunks;
            Ok(JobPlan { job, plan, window_chunks, rate_scale: 1.0, new_plan_version: false })
        };
        let jobs = |plans: Vec<Plan>| plans.into_iter().map(job).collect::<Result<Vec<_>, Error>>();
        let sets = sets.into_iter().map(jobs).collect::<Result<Vec<_>, Error>>()?;
        let (values, limits) = (dataplane.values, dataplane.limits);
        let machines = trial.machines().len().max(1);
        let records: Vec<_> = match trial.one_folder {
            true => vec![Records::shared(); machines],
            false => (0..machines).map(|_| Records::shared()).collect(),
        };
        let mut outcome = Outcome::default();
        outcome.tally.records_apart += u64::from(!trial.one_folder && machines > 1);
        Ok(Self {
            trial,
            dataplane,
            sets,
            ports: PortMap::new(topology).map_err(InstallError::from)?,
            plant: Plant::new(values, limits, trial.first_come, switches(trial), trial.seed),
            processes: Vec::new(),
            records,
            outcome,
            duties: Vec::new(),
            mentioned: BTreeSet::new(),
            began: Instant::now(),
        })
    }

    /// Runs all events. The inner result has the reason why the trial failed.
    async fn run(&mut self) -> Result<Result<(), String>, Error> {
        let (trial, mut last) = (self.trial, Duration::ZERO);
        for event in &trial.events {
            sleep_until(self.began + event.at).await;
            last = event.at;
            self.hosts_begin();
            self.suffer(&event.fault);
        }
        let lasting = |fault: &Fault| matches!(fault, Fault::Away { lasts: None, .. });
        if trial.events.iter().any(|event| lasting(&event.fault)) {
            sleep_until(self.began + last + QUIET).await;
            self.check();
            if let Err(failure) = self.holds_without_those_away() {
                return Ok(Err(failure));
            }
        }
        self.plant.heals();
        // Restarts and switches that are away for a while are over by then.
        sleep(Duration::from_secs(9)).await;
        self.check();
        if !self.processes.iter().any(Process::is_alive) {
            if let Err(failure) = self.none_ended_in_vain() {
                return Ok(Err(failure));
            }
            self.hosts_begin();
            self.start(0, false, false);
        }
        self.hosts_begin();
        self.verdict().await
    }

    /// A fault happens.
    fn suffer(&mut self, fault: &Fault) {
        match fault {
            Fault::Start { machine, other_plans, clock_back } => {
                self.start(*machine, *other_plans, *clock_back);
            }
            Fault::Kill { machine } => self.kill(*machine),
            Fault::Away { switch, of, lasts } => {
                self.plant.leaves(switch, *of, &self.trial.machines());
                if let Some(lasts) = *lasts {
                    self.later(lasts, switch, *of);
                }
            }
            Fault::Restart { switch, lasts } => {
                self.plant.leaves(switch, None, &self.trial.machines());
                self.plant.is_emptied(switch);
                self.later(*lasts, switch, None);
            }
            Fault::Refuse { switch, after, stops } => self.plant.refuses(switch, *after, *stops),
            Fault::Stand { switch, lasts } => self.plant.stands_still(switch, *lasts),
            Fault::Lose { switch, percent } => self.plant.loses(switch, *percent),
        }
    }

    /// A switch is in reach again after a while.
    fn later(&self, lasts: Duration, switch: &str, of: Option<usize>) {
        let (plant, switch) = (self.plant.clone(), switch.to_owned());
        tokio::spawn(async move {
            sleep(lasts).await;
            plant.returns(&switch, of);
        });
    }

    /// The newest controller of a machine is killed.
    fn kill(&mut self, machine: usize) {
        self.check();
        let newest =
            self.processes.iter().rposition(|process| process.machine == machine && process.is_alive());
        let Some(number) = newest else { return };
        let mut inner = self.plant.lock();
        let entry = &mut inner.ledger[number];
        entry.is_over = true;
        let writes = entry.writing > 0;
        inner.tally.controllers_killed += 1;
        inner.tally.controllers_killed_writing += u64::from(writes);
        drop(inner);
        let process = &mut self.processes[number];
        (process.was_killed, process.over) = (true, Some(Instant::now()));
        process.task.abort();
    }

    /// A controller starts.
    fn start(&mut self, machine: usize, other_plans: bool, clock_back: bool) {
        self.check();
        let number = self.processes.len();
        let set = if other_plans { self.sets.len() - 1 } else { 0 };
        self.count_start(machine, set, clock_back);
        let addresses = switches(self.trial).map(|name| (name, name));
        let state = Arc::new(State::new(self.trial.topology.name(), addresses));
        self.plant.lock().ledger.push(Entry::new(machine, state.clone()));
        let behind = if clock_back { BEHIND.as_micros() } else { 0 };
        // No two clocks show the same microsecond.
        let clock = CLOCK + self.began.elapsed().as_micros() + number as u128 - behind;
        let config = self.config(number, machine, set, Precedence(clock));
        let (plant, of_task) = (self.plant.clone(), state.clone());
        let task = tokio::task::spawn_local(async move {
            let Err(error) = daemon::run(config, of_task).await;
            plant.ends(number, &error);
            error
        });
        self.processes.push(Process {
            machine,
            set,
            state,
            task,
            ended: None,
            was_killed: false,
            started: Instant::now(),
            over: None,
        });
    }

    fn config(&self, number: usize, machine: usize, set: usize, precedence: Precedence) -> Config {
        let mut draws = ChaCha8Rng::seed_from_u64(self.trial.seed);
        draws.set_stream(1000 + number as u64);
        let draws = std::sync::Mutex::new(draws);
        let chance = move || draws.lock().map_or(0, |mut draws| draws.next_u64());
        Config {
            peers: None,
            topology: self.trial.topology.clone(),
            jobs: self.sets[set].clone(),
            program: Arc::new(Client { plant: self.plant.clone(), controller: number }),
            switches: switches(self.trial).map(|name| (name.to_owned(), Endpoint::local(name, 0))).collect(),
            precedence,
            switches_within: self.trial.switches_within,
            records: self.records[machine].clone(),
            replace_program: false,
            check_every: self.trial.check_every,
            change_within: Duration::from_secs(5),
            timing: Default::default(),
            steer: None,
            remove_departed: false,
            chance: Arc::new(chance),
        }
    }

    fn count_start(&self, machine: usize, set: usize, clock_back: bool) {
        let mut inner = self.plant.lock();
        let is_away = inner.switches.values().any(|switch| !switch.is_reached(machine));
        let before = self.processes.iter().rfind(|process| process.machine == machine);
        let tally = &mut inner.tally;
        tally.controllers += 1;
        tally.controllers_again += u64::from(before.is_some_and(|before| before.was_killed));
        tally.controllers_replanned += u64::from(before.is_some_and(|before| before.set != set));
        tally.controllers_concurrent += u64::from(self.processes.iter().any(Process::is_alive));
        tally.clocks_back += u64::from(clock_back);
        tally.starts_without += u64::from(is_away);
    }

    /// Notes which controllers have ended by themselves.
    pub(super) fn check(&mut self) {
        let over = self.processes.iter_mut().filter(|process| process.is_alive());
        for process in over.filter(|process| process.task.is_finished()) {
            process.over = Some(Instant::now());
            match (&mut process.task).now_or_never() {
                Some(Ok(error)) => process.ended = Some(error),
                Some(Err(panic)) => {
                    process.was_killed = true;
                    self.plant.lock().blame(|| format!("a controller panicked: {panic}"));
                }
                None => {}
            }
        }
    }

    /// Returns the assignments that a controller with active plans gives to the hosts of all jobs.
    pub(super) fn assignments(&self, process: &Process) -> Option<Vec<Assignment>> {
        let jobs = self.sets[process.set].iter();
        jobs.map(|job| process.state.assignment(&job.plan.job)?.ok()).collect()
    }
}

impl Trial {
    /// Machines on which controllers run.
    pub(super) fn machines(&self) -> BTreeSet<usize> {
        let of = |fault: &Fault| match fault {
            Fault::Start { machine, .. }
            | Fault::Kill { machine }
            | Fault::Away { of: Some(machine), .. } => Some(*machine),
            _ => None,
        };
        let named = self.events.iter().filter_map(|event| of(&event.fault));
        // All with smaller numbers, too, and the first one.
        (0..=named.max().unwrap_or(0)).collect()
    }
}

/// Names of the switches.
pub(super) fn switches(trial: &Trial) -> impl Iterator<Item = &str> {
    let nodes = trial.topology.nodes().iter();
    nodes
        .filter(|node| node.kind == inart_topologies::switched::NodeKind::Switch)
        .map(|node| node.name.as_str())
}
