//! Jobs that start and end while others run, as in the daemon.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller::membership::{Ending, Roster, Timing};
use inart_controller::{JobPlan, Success, admit, first_view, job_number, without};
use inart_planner_aggregation::{Options, Plan, plan_joining, schemes};
use inart_protocol_aggregation::Assignment;
use inart_topologies::switched::Job;
use inart_wire::JobId;
use rand::Rng;

use super::member::Member;
use super::orders::{Command, Instruction, Pending};
use super::rendezvous::Meeting;
use super::state::LiveJob;
use crate::Error;
use crate::host::{Process, Role};
use crate::simulation::Simulation;

/// A job's rate that changes by less than this part stays.
const SAME: f64 = 1e-3;
/// Chunks in flight, if no job is running to read the value from.
const WINDOW: u32 = 64;
/// Hosts of an elastic job start within this.
const START_NANOS: u64 = 300_000_000;
/// But this part of them within that.
const LATE: f64 = 0.15;
const LATE_NANOS: u64 = 4_000_000_000;

impl Simulation<'_> {
    /// Returns whether the hosts of a job may change.
    pub(crate) fn is_dynamic(&self, assignment: &Assignment) -> bool {
        let job = self.network.topology.job_named(&assignment.name);
        self.options.live.is_some() && job.is_some_and(|job| job.elastic)
    }

    /// Registers a job with the daemon; its hosts start.
    pub(crate) fn attend(&mut self, job: usize, assignment: &Assignment) -> Result<(), Error> {
        let instruction = Instruction {
            assignment: assignment.clone(),
            previous: None,
            ending: Ending::None,
            version: 0,
            view: 0,
        };
        let live = LiveJob { instruction, answers: BTreeMap::new(), meeting: None, is_removed: false };
        self.daemon.jobs.push(live);
        if self.is_dynamic(assignment) {
            self.gather(job, assignment);
        } else {
            self.instruct_job(job);
        }
        Ok(())
    }

    /// The hosts of an elastic job start, each when it likes.
    fn gather(&mut self, job: usize, assignment: &Assignment) {
        let topology = &self.network.topology;
        let Some(listed) = topology.job_named(&assignment.name) else { return };
        let roster = Roster::of(topology, listed);
        let hosts: Vec<_> = listed.workers.iter().chain(&listed.servers).copied().collect();
        let workers = listed.workers.len();
        let mut members = Vec::new();
        for (index, host) in hosts.into_iter().enumerate() {
            let (host, name) = (host.index(), self.network.topology.node(host).name.clone());
            let assignment = assignment.clone();
            let id = self.add(Process { job, host, role: Role::Absent, assignment, wake_at: None });
            let incarnation = self.new_incarnation();
            members.push(Member::new(name, id, index < workers, incarnation, self.options.gradient_values));
        }
        let gather_within = self.options.live.as_ref().map_or(0, |live| live.gathers_within.0);
        let timing = Timing { gather_within: Duration::from_nanos(gather_within), ..Timing::default() };
        let ids: Vec<_> = members.iter().map(|member| member.process).collect();
        self.daemon.jobs[job].meeting = Some(Meeting::new(roster, timing, members));
        for id in ids {
            let is_late = self.daemon.rng.random_bool(LATE);
            self.plan_ask(id, if is_late { LATE_NANOS } else { START_NANOS });
        }
        self.running += 1;
    }

    /// The workers of a job that is not elastic have ended: it is taken off.
    pub(crate) fn job_has_ended(&mut self, job: usize) {
        if self.options.live.is_some() {
            self.daemon.queue.push_back(Command::Delete(job));
            self.post(Pending::Proceed);
        }
    }

    /// Returns the installed jobs with their active plans.
    fn plans_in_force(&self) -> Vec<(usize, Plan)> {
        let jobs = self.daemon.jobs.iter().enumerate().filter(|(_, job)| !job.is_removed);
        let plan = |number: JobId| Some(self.daemon.records.jobs.get(&number)?.live()?.plan.clone());
        jobs.filter_map(|(index, job)| Some((index, plan(job.instruction.assignment.job)?))).collect()
    }

    /// Returns the plans of `running` and of the `joining` jobs, or `None` if no such set exists.
    fn plan_with(&self, running: &[(usize, Plan)], joining: &[&Job]) -> Option<Vec<Plan>> {
        let plans: Vec<_> = running.iter().map(|(_, plan)| plan.clone()).collect();
        let scheme = plans.first().and_then(|plan| schemes::named(&plan.scheme)).unwrap_or(schemes::DEFAULT);
        let options = Options { time_left: &|| 0.0, seed: self.options.seed, ..Options::new(scheme) };
        plan_joining(&self.network.topology, &plans, joining, &options).ok()
    }

    /// Plans a job next to the running ones, and slows these down for fairness.
    pub(super) fn make_room(&mut self, name: &str) -> Result<(), Error> {
        let running = self.plans_in_force();
        let names: Vec<_> = running.iter().map(|(_, plan)| plan.job.clone()).collect();
        let topology = &self.network.topology;
        let admitted = admit(topology, topology, &names, name);
        let listed = topology.job_named(name).filter(|_| admitted.is_ok()).cloned();
        let Some(mut plans) = listed.and_then(|job| self.plan_with(&running, &[&job])) else {
            self.wire.tally.jobs_refused += 1;
            return Ok(());
        };
        let Some(plan) = plans.pop() else { return Ok(()) };
        self.daemon.queue.push_front(Command::Install(Box::new(plan), running.clone()));
        self.slow_down(&plans);
        Ok(())
    }

    /// Queues migrations of the jobs whose rate falls.
    pub(super) fn slow_down(&mut self, plans: &[Plan]) {
        let running = self.plans_in_force().into_iter();
        let of = |name: &str| plans.iter().find(|plan| plan.job == name).cloned();
        let (running, plans): (Vec<_>, Vec<_>) =
            running.filter_map(|(job, now)| of(&now.job).map(|plan| ((job, now), plan))).unzip();
        self.change_rates(&running, &plans, |now, wanted| wanted < now * (1.0 - SAME));
    }

    /// Queues migrations of the jobs whose rate changes so that `matters` is true.
    fn change_rates(
        &mut self,
        running: &[(usize, Plan)],
        plans: &[Plan],
        matters: impl Fn(f64, f64) -> bool,
    ) {
        for ((job, now), plan) in running.iter().zip(plans).rev() {
            if matters(now.rate_bps, plan.rate_bps) {
                self.daemon.queue.push_front(Command::Move(*job, Some(Box::new(plan.clone()))));
            }
        }
    }

    /// Installs a job that no host runs, or restores the rates of the others.
    pub(super) fn install_job(&mut self, plan: Plan, before: Vec<(usize, Plan)>) -> Result<(), Error> {
        let Some(job) = job_number(&self.network.topology, &plan.job) else { return Ok(()) };
        let first = before.first().and_then(|(index, _)| {
            let number = self.daemon.jobs[*index].instruction.assignment.job;
            Some(self.daemon.records.jobs.get(&number)?.live()?.window_chunks)
        });
        let window_chunks = first.unwrap_or(WINDOW);
        let plan = JobPlan { job, plan, window_chunks, rate_scale: 1.0, new_plan_version: true };
        let record = self.daemon.records.jobs.get(&job).cloned().unwrap_or_default();
        let next = match first_view(&self.daemon.fabric, &self.changing.tables, &record, &plan) {
            Ok(next) => next,
            Err(_) => {
                self.give_back(&before);
                return Ok(());
            }
        };
        self.daemon.records.begin(&[(job, next.to.plan_version)].into())?;
        let held = std::mem::replace(&mut self.changing.tables, next.desired);
        if self.is_refused()? {
            self.changing.tables = held;
            self.write_tables()?;
            self.give_back(&before);
            return Ok(());
        }
        let done = Success { job, push: next.to, stale: Default::default() };
        self.daemon.records.succeed(0, self.network.topology.to_yaml(), vec![done])?;
        self.wire.tally.jobs_added += 1;
        self.begin_job(next.assignment)
    }

    /// Restores the rates of the others after a job was not installed.
    fn give_back(&mut self, before: &[(usize, Plan)]) {
        self.wire.tally.jobs_refused += 1;
        let plans: Vec<_> = before.iter().map(|(_, plan)| plan.clone()).collect();
        let now = self.plans_in_force();
        self.change_rates(&now, &plans, |now, wanted| wanted != now);
    }

    /// Uninstalls a job, and gives its capacity to the others.
    pub(super) fn take_off(&mut self, job: usize) -> Result<(), Error> {
        if std::mem::replace(&mut self.daemon.jobs[job].is_removed, true) {
            return Ok(());
        }
        let number = self.daemon.jobs[job].instruction.assignment.job;
        let plan_versions: std::collections::BTreeSet<_> =
            self.changing.tables.values().flat_map(|tables| tables.plan_versions(number)).collect();
        let newest = plan_versions.last().copied();
        for plan_version in plan_versions {
            self.changing.tables = without(&self.changing.tables, number, plan_version);
        }
        self.write_tables()?;
        self.daemon.records.forget(&[(number, newest)].into())?;
        self.wire.tally.jobs_removed += 1;
        self.instruct_job(job);
        match &mut self.daemon.jobs[job].meeting {
            Some(meeting) => {
                if !std::mem::replace(&mut meeting.is_done, true) {
                    self.wire.tally.jobs_deleted += 1;
                    self.jobs[job].ended_at = Some(self.wire.now);
                    self.running -= 1;
                }
            }
            None => self.stop_servers(job),
        }
        let running = self.plans_in_force();
        if let Some(plans) = self.plan_with(&running, &[]) {
            self.change_rates(&running, &plans, |now, wanted| wanted > now * (1.0 + SAME));
        }
        Ok(())
    }

    fn stop_servers(&mut self, job: usize) {
        for id in self.processes_of(job) {
            let process = &mut self.processes[id.0 as usize];
            if matches!(process.role, Role::Server(..) | Role::Gone(_)) {
                (process.role, process.wake_at) = (Role::Absent, None);
            }
        }
    }
}
