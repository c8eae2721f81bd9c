//! Running hosts: the rows of their plan version must stay, independent of controller restarts.

use inart_wire::{JobId, PlanVersion};
use tokio::time::Instant;

use super::duty::{Duty, Rows};
use super::world::{Process, World};

impl World<'_> {
    /// Starts the hosts of every job as assigned by each active controller.
    pub(super) fn hosts_begin(&mut self) {
        let mut begun = Vec::new();
        self.note_plan_versions();
        for (by, process) in self.processes.iter().enumerate().filter(|(_, process)| process.is_alive()) {
            let machine = if self.trial.one_folder { 0 } else { process.machine };
            for assignment in self.assignments(process).unwrap_or_default() {
                let same = |duty: &&Duty| {
                    (duty.job, duty.plan_version, duty.machine)
                        == (assignment.job, assignment.plan_version, machine)
                };
                if !self.duties.iter().any(|duty| same(&duty)) {
                    begun.push((assignment.job, assignment.plan_version, machine, by));
                }
            }
        }
        let held = self.held();
        for (job, plan_version, machine, by) in begun {
            let rows = held.iter().map(|(name, tables)| (name.clone(), Rows::of(tables, job, plan_version)));
            self.duties.push(Duty {
                job,
                plan_version,
                machine,
                by,
                since: Instant::now(),
                rows: rows.collect(),
            });
        }
    }

    /// Notes which plan versions the records of each machine know.
    fn note_plan_versions(&mut self) {
        let mut plan_versions = Vec::new();
        for (machine, records) in self.records.iter_mut().enumerate() {
            if records.refresh().is_err() {
                continue;
            }
            for (job, record) in &records.jobs {
                let pushed = record.pushes.iter().map(|push| push.plan_version);
                plan_versions.extend(
                    record
                        .stale
                        .iter()
                        .copied()
                        .chain(pushed)
                        .map(|plan_version| (machine, *job, plan_version)),
                );
            }
        }
        self.mentioned.extend(plan_versions);
    }

    /// Returns whether hosts may use a plan version: the active one of the records that know it, and the
    /// previous one until the next push starts.
    fn is_used(&self, duty: &Duty) -> bool {
        let Duty { job, plan_version, machine, .. } = duty;
        if self.others_may_remove(duty) {
            return false;
        }
        let mut records = self.records[*machine].clone();
        if records.refresh().is_err() {
            return true;
        }
        let pushes = records.jobs.get(job).map(|record| &record.pushes);
        let mut newest = pushes.into_iter().flatten().rev().map(|push| push.plan_version);
        let (live, before) = (newest.next(), newest.next());
        live == Some(*plan_version)
            || before == Some(*plan_version)
                && live.is_some_and(|live| self.is_last_push(*job, live, *machine))
    }

    /// Returns whether no push started after that of an active plan version. A controller with the active
    /// plans starts none. A controller with other plans does, and may remove the previous plan version
    /// although the push fails.
    fn is_last_push(&self, job: JobId, live: PlanVersion, machine: usize) -> bool {
        let mut duties = self.duties.iter();
        let of_live = duties.find(|duty| (duty.job, duty.plan_version, duty.machine) == (job, live, machine));
        of_live.is_some_and(|Duty { by, .. }| {
            let set = self.processes[*by].set;
            let has_records = |process: &&Process| self.trial.one_folder || process.machine == machine;
            self.processes[*by..].iter().filter(has_records).all(|process| process.set == set)
        })
    }

    /// Returns whether controllers on machines with separate records may have removed a plan version. Records
    /// that do not know a plan version cannot reserve its number while the switches that hold it are
    /// unreachable. The first push by such records keeps the plan version, since hosts may use it; then it is
    /// the previous one, and the second push removes it.
    fn others_may_remove(&self, duty: &Duty) -> bool {
        if self.trial.one_folder {
            return false;
        }
        let Duty { job, plan_version, machine, since, .. } = duty;
        let others = |(other, of, it): &&(usize, JobId, PlanVersion)| {
            other != machine && (of, it) == (job, plan_version)
        };
        let ran_since = |of: &&Process| of.over.is_none_or(|over| over >= *since);
        let ran =
            |machine: usize| self.processes.iter().filter(move |of| of.machine == machine).filter(ran_since);
        let machines = 0..self.records.len();
        self.mentioned.iter().any(|it| others(&it))
            || machines.filter(|other| other != machine).any(|other| ran(other).count() > 1)
    }

    /// Checks that switches hold the rows that hosts use, except rows that a switch lost by a fault.
    pub(super) fn hosts_have_their_rows(&self) -> Result<(), String> {
        let held = self.held();
        let inner = self.plant.lock();
        for duty in &self.duties {
            let Duty { job, plan_version, since, rows, .. } = duty;
            if !self.is_used(duty) {
                continue;
            }
            for (name, before) in rows {
                let lost = inner.switches[name].lost_rows.is_some_and(|lost| lost >= *since);
                if !lost && !before.are_in(&Rows::of(&held[name], *job, *plan_version)) {
                    return Err(format!(
                        "switch {name} lost rows of plan version {plan_version} of job {job}, which hosts use since {:?}",
                        since.duration_since(self.began)
                    ));
                }
            }
        }
        Ok(())
    }
}
