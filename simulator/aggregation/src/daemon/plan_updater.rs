//! Executes one command at a time and migrates running jobs, like the daemon's plan updater.

use inart_controller::membership::Formation;
use inart_controller::{LiveChange, Stage, live_change, without};
use inart_planner_aggregation::Plan;
use inart_topologies::switched::{Job, Topology};
use inart_wire::PlanVersion;

use super::orders::{Command, Pending};
use super::work::{Moving, Step, Work};
use crate::simulation::Simulation;
use crate::{Error, alternatives};

/// Longest time of a migration step of the hosts.
const LIMIT_NANOS: u64 = 5_000_000_000;

impl Simulation<'_> {
    /// Executes the commands that can be executed now.
    pub(super) fn proceed(&mut self) -> Result<(), Error> {
        loop {
            let job = match &self.daemon.work {
                Some(Work::Forming(_)) => return Ok(()),
                Some(Work::Move(moving)) => moving.job,
                None => match self.daemon.queue.pop_front() {
                    Some(command) => {
                        self.carry_out(command)?;
                        self.check_tables();
                        continue;
                    }
                    None => return Ok(()),
                },
            };
            match self.all_follow(job) {
                Some(outcome) => self.step_on(outcome)?,
                None => return Ok(()),
            }
        }
    }

    fn carry_out(&mut self, command: Command) -> Result<(), Error> {
        self.wire.log.note(self.wire.now, || format!("the controller: {command}"));
        match command {
            Command::Move(job, plan) => self.begin_move(job, plan.map(|plan| *plan)),
            Command::Form(job, formation) => self.begin_forming(job, formation),
            Command::Submit(name) => self.make_room(&name)?,
            Command::Install(plan, before) => self.install_job(*plan, before)?,
            Command::Delete(job) => self.take_off(job)?,
        }
        Ok(())
    }

    fn begin_forming(&mut self, job: usize, formation: Formation) {
        if !self.daemon.jobs[job].is_removed {
            self.daemon.work = Some(Work::Forming(job));
            self.plan_formation(job, formation);
        }
    }

    fn begin_move(&mut self, job: usize, plan: Option<Plan>) {
        if self.daemon.jobs[job].is_removed {
            return;
        }
        self.daemon.works += 1;
        let number = self.daemon.works;
        let moving = Moving { number, job, plan, change: None, step: Step::Before };
        self.daemon.work = Some(Work::Move(Box::new(moving)));
        self.post_at(self.wire.now + LIMIT_NANOS, Pending::Limit(number));
    }

    /// Hosts have had time enough.
    pub(super) fn time_is_up(&mut self, number: u32) -> Result<(), Error> {
        match &self.daemon.work {
            Some(Work::Move(moving)) if moving.number == number => {
                self.step_on(Err("no answer from some host".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Continues after all hosts have carried out their instruction, or some have not.
    fn step_on(&mut self, outcome: Result<(), String>) -> Result<(), Error> {
        let Some(Work::Move(mut moving)) = self.daemon.work.take() else { return Ok(()) };
        self.wire.log.note(self.wire.now, || {
            format!("migration of job {}, {:?}: {outcome:?}", moving.job, moving.step)
        });
        let next = match (moving.step, &moving.change, outcome) {
            (Step::Before, _, Ok(())) => self.write_move(&mut moving)?,
            (Step::Before, _, Err(_)) => {
                self.wire.tally.moves_refused += 1;
                None
            }
            (Step::There, Some((change, _)), Ok(())) => {
                self.daemon.records.commit_change(change.job, change.to.clone())?;
                self.daemon.jobs[moving.job].instruction.previous = None;
                Some(Step::Closing)
            }
            (Step::There, Some((change, before)), Err(_)) => {
                self.daemon.records.note_change(change.job, Stage::Undoing, change.to.plan_version)?;
                let (assignment, other) = (before.assignment.clone(), change.to.plan_version);
                self.instruct_plan(moving.job, assignment, Some(other));
                Some(Step::Back)
            }
            (Step::Back, ..) => {
                self.daemon.jobs[moving.job].instruction.previous = None;
                Some(Step::ClosingOther)
            }
            (Step::Closing, Some((change, _)), _) => {
                self.wire.tally.moves += 1;
                self.remove_plan_version(change, change.from)?;
                None
            }
            (Step::ClosingOther, Some((change, _)), _) => {
                self.wire.tally.moves_undone += 1;
                self.remove_plan_version(change, change.to.plan_version)?;
                None
            }
            (Step::There | Step::Closing | Step::ClosingOther, None, _) => None,
        };
        if let Some(step) = next {
            self.daemon.works += 1;
            (moving.step, moving.number) = (step, self.daemon.works);
            self.instruct_job(moving.job);
            self.post_at(self.wire.now + LIMIT_NANOS, Pending::Limit(moving.number));
            self.daemon.work = Some(Work::Move(moving));
        } else {
            self.check_tables();
        }
        Ok(())
    }

    fn instruct_plan(
        &mut self,
        job: usize,
        assignment: inart_protocol_aggregation::Assignment,
        previous: Option<PlanVersion>,
    ) {
        self.assignments[job].clone_from(&assignment);
        let instruction = &mut self.daemon.jobs[job].instruction;
        (instruction.assignment, instruction.previous) = (assignment, previous);
    }

    /// Writes the new tables next to the old ones. Returns the next step if no switch refuses.
    fn write_move(&mut self, moving: &mut Moving) -> Result<Option<Step>, Error> {
        let job = moving.job;
        let before = self.daemon.jobs[job].instruction.clone();
        let record = self.daemon.records.jobs.get(&before.assignment.job).cloned().unwrap_or_default();
        let planned = moving.plan.take().or_else(|| {
            let live = record.live()?.plan.clone();
            let topology = only(&self.network.topology, &live);
            let seed = self.options.seed.wrapping_add(u64::from(self.daemon.works));
            alternatives(&topology, &[live], seed, 1).pop()?.pop()
        });
        let Some(plan) = planned else { return Ok(None) };
        let change =
            live_change(&self.daemon.fabric, &self.changing.tables, &record, &before.assignment, plan);
        let change = match change {
            Ok(change) => change,
            Err(why) => {
                self.wire.log.note(self.wire.now, || format!("migration refused: {why}"));
                self.wire.tally.moves_refused += 1;
                return Ok(None);
            }
        };
        self.daemon.records.note_change(change.job, Stage::Writing, change.to.plan_version)?;
        self.changing.tables.clone_from(&change.kept);
        self.write_tables()?;
        self.changing.tables.clone_from(&change.both);
        if self.is_refused()? {
            self.changing.tables.clone_from(&change.kept);
            self.write_tables()?;
            self.daemon.records.end_change(change.job, change.stale.clone())?;
            return Ok(None);
        }
        self.daemon.records.note_change(change.job, Stage::Moving, change.to.plan_version)?;
        self.instruct_plan(job, change.assignment.clone(), Some(change.from));
        moving.change = Some((change, before));
        Ok(Some(Step::There))
    }

    /// Removes the tables of an unused plan version, and ends the migration.
    fn remove_plan_version(&mut self, change: &LiveChange, plan_version: PlanVersion) -> Result<(), Error> {
        self.changing.tables = without(&self.changing.tables, change.job, plan_version);
        self.write_tables()?;
        Ok(self.daemon.records.end_change(change.job, Default::default())?)
    }
}

/// The network with the job of a plan alone, with those of its hosts that the plan is for.
fn only(topology: &Topology, plan: &Plan) -> Topology {
    let Some(job) = topology.job_named(&plan.job) else { return topology.clone() };
    let name = |id: &inart_topologies::switched::NodeId| topology.node(*id).name.as_str();
    let works = |id: &_| plan.flows.iter().any(|flow| flow.worker == name(id));
    let serves = |id: &_| plan.shards.iter().any(|shard| shard.server == name(id));
    let job = Job {
        workers: job.workers.iter().copied().filter(|id| works(id)).collect(),
        servers: job.servers.iter().copied().filter(|id| serves(id)).collect(),
        ..job.clone()
    };
    topology.with_jobs(vec![job])
}
