//! Plans that change while jobs run: the controller's side, in virtual time.
//!
//! For each change the controller installs the tables of a new plan version next to the old ones and notifies
//! every host after a random delay. When all hosts have migrated, it closes the old plan version and removes
//! the tables of that version. Hosts migrate either as soon as they are notified, or coordinated by their
//! servers. A change may be undone: some hosts are notified, then all of these are notified to migrate back.

use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Instant;
use inart_topologies::faults::quantity::Span;
use rand::Rng;

use crate::Error;
use crate::changes::Changes;
use crate::event_queue::{EventKind, Notification, ProcessId};
use crate::host::Role;
use crate::simulation::{Node, Simulation};

/// Delay before a paused host is notified again.
const NOTIFY_AGAIN_NANOS: u64 = 1_000_000;
/// Interval of asking workers whether they have migrated.
const ASK_NANOS: u64 = 200_000;
/// Time without results after which workers that have not migrated are forced to.
const NO_RESULT_NANOS: u64 = 1_000_000_000;

impl Simulation<'_> {
    /// The changes of this run, if it has any.
    fn plan_changes(&self) -> Option<&Changes> {
        self.options.changes.as_ref()
    }

    /// Returns whether jobs must continue because an event is still to happen.
    pub(crate) fn holds(&self) -> bool {
        self.plan_changes().is_some_and(|changes| changes.hold) && self.changing.over.is_none()
            || self.options.watch.as_ref().is_some_and(|watch| watch.until.is_some()) && !self.released
    }

    /// Starts the next change.
    pub(crate) fn begin_change(&mut self) -> Result<(), Error> {
        let Some(changes) = &self.options.changes else { return Ok(()) };
        if let Some(pretended) = changes.pretend {
            self.pretend(pretended);
            return Ok(());
        }
        if self.changing.began.is_none() {
            self.changing.began = Some((self.wire.now, self.slowest_results()));
        }
        let changing = &mut self.changing;
        let undoing = changing.rng.random_bool(changes.undone.get());
        let part = if undoing { changing.rng.random_range(0.0..1.0) } else { 1.0 };
        let set = (changing.begun as usize + 1) % (changes.plans.len() + 1);
        let own = || self.network.jobs.iter().map(|job| job.plan.clone()).collect();
        let plans: Vec<Plan> = set.checked_sub(1).map_or_else(own, |set| changes.plans[set].clone());
        (changing.coordinated, changing.notify_within) = (changes.coordinated, changes.notify_within.0);
        if !self.stage_tables(&plans)? {
            self.next_change();
            return Ok(());
        }
        self.changing.undoing = undoing;
        self.notify_first(part)
    }

    /// Starts a change to `plans` (one per job) unless a switch refuses the tables. Returns whether the
    /// change started.
    pub(crate) fn change_to(
        &mut self,
        plans: &[Plan],
        coordinated: bool,
        notify_within: Span,
    ) -> Result<bool, Error> {
        (self.changing.coordinated, self.changing.notify_within) = (coordinated, notify_within.0);
        let begins = self.stage_tables(plans)?;
        if begins {
            self.notify_first(1.0)?;
        }
        Ok(begins)
    }

    /// Installs the tables of the next plan version next to the current ones. If a switch refuses them, all
    /// switches keep their tables and no host is notified. Returns whether all switches accepted them.
    fn stage_tables(&mut self, plans: &[Plan]) -> Result<bool, Error> {
        let changing = &mut self.changing;
        let (mut next, mut newest) = (changing.now.clone(), changing.newest.clone());
        let mut tables = changing.tables.clone();
        for (job, plan) in plans.iter().enumerate() {
            let staged = self.network.stage(
                &tables,
                job,
                plan,
                changing.now[job].plan_version,
                changing.newest[job],
            )?;
            newest[job] = staged.assignment.plan_version;
            (next[job], tables) = (staged.assignment, staged.tables);
        }
        changing.begun += 1;
        let before = std::mem::replace(&mut changing.tables, tables);
        if self.is_refused()? {
            self.changing.tables = before;
            self.write_tables()?;
            self.wire
                .log
                .note(self.wire.now, || "tables of a new plan version were refused and removed".to_owned());
            return Ok(false);
        }
        (self.changing.next, self.changing.newest) = (next, newest);
        self.wire.log.note(self.wire.now, || "tables of a new plan version installed".to_owned());
        Ok(true)
    }

    /// Notifies the share `part` of the hosts that are notified first.
    fn notify_first(&mut self, part: f64) -> Result<(), Error> {
        let coordinated = self.changing.coordinated;
        let ids = (0..self.processes.len() as u32).map(ProcessId);
        let is_worker = |id: &ProcessId| matches!(self.processes[id.0 as usize].role, Role::Worker(_));
        let rng = &mut self.changing.rng;
        let notified =
            ids.filter(|id| !coordinated || is_worker(id)).filter(|_| rng.random_bool(part)).collect();
        self.notify_all(notified, if coordinated { Notification::Prepare } else { Notification::Move })
    }

    /// Lets time pass as if plans changed.
    fn pretend(&mut self, pretended: Span) {
        let seen = Some((self.wire.now, self.slowest_results()));
        if self.changing.began.is_none() {
            self.changing.began = seen;
            self.wire.events.at(self.wire.now + pretended.0.max(1), EventKind::Change);
        } else {
            self.changing.over = seen;
            if self.plan_changes().is_some_and(|changes| changes.hold) {
                self.release_rounds();
            }
        }
    }

    /// Notifies these processes, each after a random delay.
    fn notify_all(&mut self, notified: Vec<ProcessId>, what: Notification) -> Result<(), Error> {
        let within = self.changing.notify_within;
        self.changing.waiting = notified.len();
        for id in &notified {
            let at = self.wire.now + 1 + self.changing.rng.random_range(0..=within);
            self.wire.events.at(at, EventKind::Notification(*id, what));
        }
        self.changing.notified = notified;
        if self.changing.waiting == 0 { self.all_notified(what) } else { Ok(()) }
    }

    /// Notifies one process unless its host is paused.
    pub(crate) fn notify(&mut self, id: ProcessId, what: Notification) -> Result<(), Error> {
        let process = &mut self.processes[id.0 as usize];
        if matches!(&self.nodes[process.host], Node::Host(host) if host.paused > 0) {
            let at = self.wire.now + NOTIFY_AGAIN_NANOS;
            self.wire.events.at(at, EventKind::Notification(id, what));
            return Ok(());
        }
        let now = Instant::from_nanos(self.wire.now);
        let next = match what {
            Notification::Back => &self.changing.now[process.job],
            _ => &self.changing.next[process.job],
        };
        match (&mut process.role, what) {
            (Role::Worker(worker), Notification::Close) => worker.flow.close_old_plan_version(),
            (Role::Worker(worker), Notification::Prepare) => worker.flow.prepare(next.clone())?,
            (Role::Worker(worker), _) => worker.flow.reroute(now, next.clone())?,
            (Role::Server(server, _), Notification::Close) => server.close_old_plan_version(),
            (Role::Server(server, _), Notification::Lead) => server.lead(next.clone())?,
            (Role::Server(server, _), _) => server.reroute(next.clone())?,
            (Role::Gone(_) | Role::Absent, _) => {}
        }
        if what != Notification::Close {
            process.assignment.clone_from(next);
        }
        self.pump(id);
        self.changing.waiting -= 1;
        if self.changing.waiting == 0 { self.all_notified(what) } else { Ok(()) }
    }

    /// Handles that all processes are notified.
    fn all_notified(&mut self, what: Notification) -> Result<(), Error> {
        let all: Vec<_> = (0..self.processes.len() as u32).map(ProcessId).collect();
        match what {
            Notification::Prepare | Notification::Move if self.changing.undoing => {
                let notified = std::mem::take(&mut self.changing.notified);
                self.notify_all(notified, Notification::Back)
            }
            Notification::Prepare => {
                let is_worker =
                    |id: &ProcessId| matches!(self.processes[id.0 as usize].role, Role::Worker(_));
                self.notify_all(all.into_iter().filter(|id| !is_worker(id)).collect(), Notification::Lead)
            }
            Notification::Lead => {
                self.changing.progress = (self.wire.now, 0);
                self.ask()
            }
            Notification::Move | Notification::Back => self.notify_all(all, Notification::Close),
            Notification::Close => self.end_change(),
        }
    }

    /// Asks the workers whether they have migrated with their servers.
    pub(crate) fn ask(&mut self) -> Result<(), Error> {
        let all: Vec<_> = (0..self.processes.len() as u32).map(ProcessId).collect();
        let behind = |id: &ProcessId| match &self.processes[id.0 as usize].role {
            Role::Worker(worker) if worker.end.is_none() && !worker.flow.has_moved() => {
                Some(worker.flow.counters().results)
            }
            _ => None,
        };
        let Some(results) = all.iter().filter_map(behind).reduce(|all, one| all + one) else {
            return self.notify_all(all, Notification::Close);
        };
        let (since, before) = self.changing.progress;
        if results != before {
            self.changing.progress = (self.wire.now, results);
        } else if self.wire.now > since + NO_RESULT_NANOS {
            // A host is paused, or no results arrive.
            return self.notify_all(all, Notification::Move);
        }
        self.wire.events.at(self.wire.now + ASK_NANOS, EventKind::Ask);
        Ok(())
    }

    /// Removes the tables of the plan version that no host uses.
    fn end_change(&mut self) -> Result<(), Error> {
        let changing = &mut self.changing;
        let (kept, gone) = match changing.undoing {
            true => (&changing.now, &changing.next),
            false => (&changing.next, &changing.now),
        };
        for (kept, gone) in
            kept.iter().zip(gone).filter(|(kept, gone)| kept.plan_version != gone.plan_version)
        {
            changing
                .tables
                .values_mut()
                .for_each(|tables| tables.retire(kept.job, |plan_version| plan_version == gone.plan_version));
        }
        if !changing.undoing {
            changing.now = std::mem::take(&mut changing.next);
        }
        changing.done += 1;
        changing.undone += u32::from(changing.undoing);
        self.write_tables()?;
        self.wire.tally.changes += 1;
        self.wire.tally.undone += u64::from(self.changing.undoing);
        self.wire.log.note(self.wire.now, || "tables of a plan version removed".to_owned());
        self.next_change();
        Ok(())
    }

    /// Schedules the next change after a change has ended or was refused.
    fn next_change(&mut self) {
        self.changing.next.clear();
        let Some(changes) = &self.options.changes else {
            self.wire.tally.followed += 1;
            return self.changed(None);
        };
        if self.changing.begun == changes.count {
            self.changing.over = Some((self.wire.now, self.slowest_results()));
            if changes.hold {
                self.release_rounds();
            }
        } else {
            self.wire.events.at(self.wire.now + changes.gap.0.max(1), EventKind::Change);
        }
    }

    /// The workers of every job end with the same round: the one after the furthest that any of them is in.
    pub(crate) fn release_rounds(&mut self) {
        for job in 0..self.jobs.len() {
            let furthest = self.workers(job).map(|worker| worker.round).max().unwrap_or(0);
            self.jobs[job].last_round = self.options.rounds.max(furthest + 1);
        }
    }
}
