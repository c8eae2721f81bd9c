//! Groups in turn, in virtual time.

use inart_planner_ps::{RackError, Racks};
use inart_protocol_ps::{
    Applied, Batch, Options, Output, PushOutcome, Server, SyncModel, TurnOutput, Turns, Update, WorkerNo,
};
use inart_topologies::ps::{Job, Kind};
use inart_virtual::{Seconds, SplitMix64, Timeline};

use super::error::RackRunError;
use super::report::{RackRun, Record};
use crate::ideal::{RunError, duration};

/// Options of a run of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RackOptions {
    /// Iterations of every group after which the run ends; at least 2.
    pub iterations: u32,
    /// Seed of the compute times.
    pub seed: u64,
}

/// Event for observers.
#[derive(Debug, Clone, PartialEq)]
pub enum RackEvent {
    /// A group has the model of this version.
    Pull {
        /// Position of the group.
        group: usize,
        /// Version.
        version: u64,
    },
    /// A group's turn starts: its sum goes to the servers.
    Push {
        /// Position of the group.
        group: usize,
    },
    /// A group's complete sum has arrived.
    Arrived {
        /// Position of the group.
        group: usize,
    },
    /// A group's sum is applied.
    Apply {
        /// Version of the model afterwards.
        version: u64,
        /// Updates; the worker is the group.
        updates: Vec<Update>,
    },
}

/// Runs a job in groups.
///
/// # Errors
/// The job has clients or too few iterations, or the groups are another job's.
pub fn run_racks(job: &Job, racks: &Racks, options: &RackOptions) -> Result<RackRun, RackRunError> {
    run_racks_watched(job, racks, options, &mut |_, _| ())
}

/// Runs a job in groups, and reports each event with its time in seconds.
///
/// # Errors
/// As for [`run_racks`].
pub fn run_racks_watched(
    job: &Job,
    racks: &Racks,
    options: &RackOptions,
    watch: &mut dyn FnMut(f64, RackEvent),
) -> Result<RackRun, RackRunError> {
    if job.kind != Kind::Workers {
        let (has, wanted) = (job.kind.name(), Kind::Workers.name());
        return Err(RunError::Kind { job: job.name.clone(), has, wanted }.into());
    }
    if options.iterations < 2 {
        return Err(RunError::Iterations(options.iterations).into());
    }
    let members = racks.groups.iter().map(|group| group.members.len()).sum::<usize>();
    if racks.groups.is_empty() || members != job.participants.len() {
        let (groups, workers) = (racks.groups.len(), job.participants.len());
        return Err(RackError::Groups { job: job.name.clone(), groups, workers }.into());
    }
    let sync_model = SyncModel::r2sp(0.0, Applied::InTurn).map_err(RunError::from)?;
    let turns = Turns::new(racks.groups.len(), racks.concurrent_groups, 1)?;
    let mut world = World::new(job, racks, options, (sync_model, turns), watch);
    world.start();
    while !world.record.is_over() {
        let Some((Seconds(at_s), event)) = world.timers.take() else {
            let waited_for = job.participants[racks.groups[world.turns.next_group()].members[0]].name.clone();
            return Err(RunError::Stalled { at_s: world.now_s, waited_for }.into());
        };
        world.happens(at_s, event);
    }
    Ok(world.record.report(job, racks, sync_model.name(), world.now_s))
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Computed(usize),
    Arrived(usize),
}

struct World<'r> {
    job: &'r Job,
    racks: &'r Racks,
    server: Server<SyncModel>,
    timers: Timeline<Event, Seconds>,
    random: SplitMix64,
    now_s: f64,
    /// By group: start of its sum's wait for the turn.
    ready_s: Vec<Option<f64>>,
    iteration: Vec<u64>,
    /// Turns in which a group's sum is one chunk.
    turns: Turns,
    record: Record,
    watch: &'r mut dyn FnMut(f64, RackEvent),
}

impl<'r> World<'r> {
    fn new(
        job: &'r Job,
        racks: &'r Racks,
        options: &RackOptions,
        (sync_model, turns): (SyncModel, Turns),
        watch: &'r mut dyn FnMut(f64, RackEvent),
    ) -> Self {
        let groups = racks.groups.len();
        let batches = vec![Batch::new(1, 1.0); groups];
        World {
            job,
            racks,
            server: Server::new(sync_model, Options { batches, tuning: None, patience: None }),
            timers: Timeline::new(),
            random: SplitMix64::new(options.seed),
            now_s: 0.0,
            ready_s: vec![None; groups],
            iteration: vec![0; groups],
            turns,
            record: Record::new(groups, options.iterations),
            watch,
        }
    }

    /// Starts the computation of all groups with the first model.
    fn start(&mut self) {
        for group in 0..self.racks.groups.len() {
            self.server.join(number(group), duration(0.0)).expect("there is a worker state for every group");
        }
        for group in 0..self.racks.groups.len() {
            self.asks(group);
        }
        self.settle();
    }

    fn happens(&mut self, at_s: f64, event: Event) {
        if self.turns.pushing() > 0 {
            self.record.was_busy(at_s - self.now_s);
        }
        self.now_s = at_s;
        match event {
            Event::Computed(group) => {
                self.ready_s[group] = Some(at_s);
                self.turns.ready(group).expect("a group computes after its last turn");
            }
            Event::Arrived(group) => {
                self.record.arrived(group, at_s);
                (self.watch)(at_s, RackEvent::Arrived { group });
                let taken = self.server.push(number(group), self.iteration[group], Ok(()), duration(at_s));
                assert_eq!(taken, Ok(PushOutcome::Held), "a group pushes once per permission");
                self.turns.chunk(group, 0).expect("its turn is active");
                self.asks(group);
            }
        }
        self.settle();
        self.begin();
    }

    fn asks(&mut self, group: usize) {
        self.server.request(number(group), duration(self.now_s)).expect("every group takes part");
    }

    /// Carries out the server's outputs: a group that may pull has the model at once, since it returned with
    /// its sum.
    fn settle(&mut self) {
        while let Some(output) = self.server.next_output() {
            match output {
                Output::Permit { worker, iteration, .. } => self.computes(worker.index(), iteration),
                Output::Apply { version, updates } => {
                    updates.iter().for_each(|update| self.record.applied(update.iteration, update.staleness));
                    (self.watch)(self.now_s, RackEvent::Apply { version, updates });
                }
                Output::Discard { .. } | Output::Gone { .. } => {}
            }
        }
    }

    fn computes(&mut self, group: usize, iteration: u64) {
        let version =
            self.server.pull(number(group), duration(self.now_s)).expect("the group has a permission");
        (self.watch)(self.now_s, RackEvent::Pull { group, version });
        self.iteration[group] = iteration;
        let participants = self.racks.groups[group].members.iter().map(|&at| &self.job.participants[at]);
        // A sum waits for the last of its workers.
        let longest_s =
            participants.fold(0.0, |longest: f64, one| longest.max(one.compute.draw(&mut self.random)));
        self.timers.at(Seconds(self.now_s + longest_s), Event::Computed(group));
    }

    /// Starts turns in order, as many at once as all capacities permit.
    fn begin(&mut self) {
        while let Some(output) = self.turns.next_output() {
            // The server applies whole sums, in the same order.
            let TurnOutput::Begin { group, .. } = output else { continue };
            let Some(since_s) = self.ready_s[group].take() else { continue };
            self.record.waited(self.iteration[group], self.now_s - since_s);
            (self.watch)(self.now_s, RackEvent::Push { group });
            let push_s = self.racks.groups[group].push_s(self.job.bits);
            self.timers.at(Seconds(self.now_s + push_s), Event::Arrived(group));
        }
    }
}

fn number(group: usize) -> WorkerNo {
    WorkerNo(group as u32)
}
