//! Invariants during and after faults: one controller is active, switches hold its plans, sums are right, and
//! each ended controller had a reason.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller::daemon::DaemonError;
use inart_controller::{InstallError, Records};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_targets::Running;
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_wire::{JobId, PlanVersion};
use tokio::time::{Instant, sleep};

use super::plant::Plant;
use super::rows::{Held, Wanted};
use super::trial::Fault;
use super::world::{Process, World};
use crate::{Error, InstalledNetwork, Options, simulate};

/// Time limit for convergence after all faults have ended.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);
/// Check interval.
const LOOK: Duration = Duration::from_millis(250);
/// Time of uninterrupted contact after which a controller must have repaired a switch.
const STABLE: Duration = Duration::from_secs(16);

impl World<'_> {
    /// Waits until the system has converged and stays so. The inner result has the reason otherwise.
    pub(super) async fn verdict(&mut self) -> Result<Result<(), String>, Error> {
        let until = Instant::now() + SETTLED_WITHIN;
        let charge = loop {
            self.check();
            match self.in_order() {
                Ok(number) => break number,
                Err(why) if Instant::now() > until => return Ok(Err(why)),
                Err(_) => sleep(LOOK).await,
            }
        };
        sleep(2 * self.trial.check_every + Duration::from_secs(3)).await;
        self.check();
        match self.in_order() {
            Ok(number) if number == charge => {}
            Ok(number) => return Ok(Err(format!("controller {number} took over from controller {charge}"))),
            Err(why) => return Ok(Err(format!("in order, and then no more: {why}"))),
        }
        self.hosts_begin();
        let reasons = self.all_ended_for_a_reason().and_then(|()| self.hosts_have_their_rows());
        let reasons = reasons.and_then(|()| self.no_plan_has_two_plan_versions());
        if let Err(why) = reasons.and_then(|()| self.no_job_has_three_plan_versions()) {
            return Ok(Err(why));
        }
        if let Some(wrong) = self.plant.lock().wrong.take() {
            return Ok(Err(wrong));
        }
        let assignments = self.assignments(&self.processes[charge]).unwrap_or_default();
        self.sums(&self.held(), assignments, self.processes[charge].set)
    }

    /// Returns the active controller, or why there is not exactly one that all others know and whose plans
    /// all switches hold.
    fn in_order(&self) -> Result<usize, String> {
        let alive = self.processes.iter().enumerate().filter(|(_, process)| process.is_alive());
        let alive: Vec<_> = alive.collect();
        let installed = |(_, process): &&(usize, &Process)| process.state.status().installed;
        let charge: Vec<_> = alive.iter().filter(installed).map(|(number, _)| *number).collect();
        let numbers: Vec<_> = alive.iter().map(|(number, _)| *number).collect();
        let [charge] = charge[..] else {
            return Err(format!("of the controllers {numbers:?}, {charge:?} are in charge"));
        };
        if alive.len() > 1 && !self.trial.first_come {
            return Err(format!("controllers {numbers:?} run, though one of them has the greatest id"));
        }
        let status = self.processes[charge].state.status();
        if let Some(switch) =
            status.switches.iter().find(|switch| !switch.connected || !switch.problem.is_empty())
        {
            return Err(format!("controller {charge}: switch {}: \"{}\"", switch.name, switch.problem));
        }
        self.records_agree(charge)?;
        let wanted = self.wanted(charge)?;
        let held = self.held();
        let may_remain = self.may_remain(charge);
        for (name, tables) in &held {
            if self.plant.lock().switches[name].memory.running != Running::Ours {
                return Err(format!("switch {name} does not run the program"));
            }
            wanted.check_switch(name, tables, &may_remain)?;
        }
        wanted.check_network(&held)?;
        Ok(charge)
    }

    /// Checks that the plan versions assigned by an active controller are active in the records: hosts
    /// receive roles under no others.
    fn records_agree(&self, charge: usize) -> Result<(), String> {
        let process = &self.processes[charge];
        let mut records = self.records[process.machine].clone();
        records.refresh().map_err(|error| error.to_string())?;
        for assignment in self.assignments(process).unwrap_or_default() {
            let live = records.jobs.get(&assignment.job).and_then(|record| Some(record.live()?.plan_version));
            if live != Some(assignment.plan_version) {
                let (job, plan_version) = (assignment.job, assignment.plan_version);
                return Err(format!(
                    "controller {charge} assigns plan version {plan_version} of job {job}, but {live:?} is active in the records"
                ));
            }
        }
        Ok(())
    }

    /// Checks that the controller maintains the reachable switches while others stay unreachable.
    pub(super) fn holds_without_those_away(&self) -> Result<(), String> {
        let alive: Vec<_> = (0..self.processes.len()).filter(|at| self.processes[*at].is_alive()).collect();
        let [charge] = alive[..] else { return Ok(()) };
        let process = &self.processes[charge];
        let undisturbed = |since: Instant| since.elapsed() > STABLE;
        let inner = self.plant.lock();
        let reached = inner.switches.iter().filter(|(_, switch)| switch.is_reached(process.machine));
        let reached: BTreeMap<_, _> =
            reached.map(|(name, switch)| (name.clone(), switch.disturbed)).collect();
        let held: Held =
            reached.keys().map(|name| (name.clone(), inner.switches[name].memory.tables.clone())).collect();
        drop(inner);
        if !undisturbed(process.started)
            || reached.is_empty()
            || !reached.values().all(|since| undisturbed(*since))
        {
            return Ok(());
        }
        let place = |why: String| format!("while switches are away: {why}");
        if !process.state.status().installed {
            return Err(place(format!(
                "controller {charge} has not installed its plans on {:?}",
                held.keys()
            )));
        }
        let wanted = self.wanted(charge)?;
        let may_remain = self.may_remain(charge);
        held.iter()
            .try_for_each(|(name, tables)| wanted.check_switch(name, tables, &may_remain).map_err(place))
    }

    /// Returns the expected tables of an active controller.
    fn wanted(&self, charge: usize) -> Result<Wanted<'_>, String> {
        let process = &self.processes[charge];
        let assignments =
            self.assignments(process).ok_or_else(|| format!("controller {charge} assigns nothing"))?;
        let plans = self.sets[process.set].iter().map(|job| &job.plan);
        Ok(Wanted { ports: &self.ports, jobs: plans.zip(assignments).collect() })
    }

    /// Returns which plan versions may have rows besides the active ones. Controllers that share records know
    /// each other's plan versions, and keep the previous one until the next push. They do not touch those of
    /// other records.
    fn may_remain(&self, charge: usize) -> impl Fn(JobId, PlanVersion) -> bool + use<> {
        let mut records: Records = self.records[self.processes[charge].machine].clone();
        let is_apart = !self.trial.one_folder && self.records.len() > 1;
        let is_read = records.refresh().is_ok();
        move |job, plan_version| {
            let stale = records.jobs.get(&job).is_some_and(|record| record.stale.contains(&plan_version));
            is_apart || is_read && stale
        }
    }

    /// Returns the tables of all switches.
    pub(super) fn held(&self) -> Held {
        let inner = self.plant.lock();
        inner.switches.iter().map(|(name, switch)| (name.clone(), switch.memory.tables.clone())).collect()
    }

    /// Workers compute a sum on the switches as they are.
    fn sums(
        &mut self,
        held: &Held,
        assignments: Vec<Assignment>,
        set: usize,
    ) -> Result<Result<(), String>, Error> {
        let (topology, dataplane) = (&self.trial.topology, self.dataplane);
        let network = InstalledNetwork::holding(
            topology,
            &self.ports,
            dataplane,
            held.clone(),
            assignments,
            &self.sets[set],
        );
        let options = Options {
            rounds: 1,
            gradient_values: 70,
            seed: self.trial.seed,
            limit: Span(100_000_000_000),
            ..Options::default()
        };
        let report = simulate(&network, &Faults::default(), &options, None)?;
        self.outcome.sums_checked += report.sums_checked;
        self.outcome.packet_hops += report.packet_hops;
        Ok(match report.failure {
            Some(failure) => Err(format!("on the tables in the end: {failure}")),
            None => Ok(()),
        })
    }

    /// Checks that every controller that ended reported a true reason.
    fn all_ended_for_a_reason(&mut self) -> Result<(), String> {
        let mut replaced = 0;
        for (number, process) in self.processes.iter().enumerate() {
            let Some(error) = &process.ended else { continue };
            let why = |why: &str| format!("controller {number} ended {why}: \"{error}\"");
            match error {
                DaemonError::Superseded { switch, .. } => {
                    replaced += 1;
                    self.was_replaced(number, switch).map_err(&why)?;
                }
                DaemonError::Install(_) => {
                    let was_hindered = self.plant.lock().ledger[number].was_hindered;
                    was_hindered.then_some(()).ok_or_else(|| why("although no switch refused a request"))?;
                }
            }
        }
        self.outcome.tally.controllers_replaced += replaced;
        Ok(())
    }

    /// Checks that a controller restarted with the active plan keeps its plan version if all switches are
    /// available and unchanged.
    fn no_plan_has_two_plan_versions(&mut self) -> Result<(), String> {
        let tally = self.plant.lock().tally;
        if !self.trial.one_folder || tally.starts_without + tally.rows_lost + tally.restarted_empty > 0 {
            return Ok(());
        }
        let records = &mut self.records[0];
        records.refresh().map_err(|error| error.to_string())?;
        for (job, record) in &records.jobs {
            let pushes = record.pushes.iter().zip(record.pushes.iter().skip(1));
            for (before, after) in pushes {
                let [one, other] = [before, after].map(|push| Plan { solve_ms: 0.0, ..push.plan.clone() });
                if one == other {
                    let (before, after) = (before.plan_version, after.plan_version);
                    return Err(format!(
                        "job {job} has the same plan under plan versions {before} and {after}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A push keeps the previous plan version, which hosts may use, and removes all older ones. Checks that
    /// switches then hold at most two plan versions of a job, unless a fault interfered.
    fn no_job_has_three_plan_versions(&self) -> Result<(), String> {
        let hinders = |fault: &Fault| match fault {
            Fault::Start { .. } | Fault::Kill { .. } => false,
            Fault::Stand { lasts, .. } => !lasts.is_zero(),
            Fault::Away { .. } | Fault::Restart { .. } | Fault::Refuse { .. } | Fault::Lose { .. } => true,
        };
        if !self.trial.one_folder || self.trial.events.iter().any(|event| hinders(&event.fault)) {
            return Ok(());
        }
        for (name, tables) in self.held() {
            for job in tables.jobs() {
                let plan_versions: Vec<_> =
                    tables.plan_versions(job).into_iter().map(PlanVersion::get).collect();
                if plan_versions.len() > 2 {
                    return Err(format!(
                        "switch {name} holds rows of plan versions {plan_versions:?} of job {job}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks whether another controller was active at a switch that reported one.
    fn was_replaced(&self, number: usize, switch: &str) -> Result<(), &'static str> {
        let inner = self.plant.lock();
        let obeyed = &inner.switches.get(switch).ok_or("and named no switch")?.obeyed;
        let entry = &inner.ledger[number];
        if self.trial.first_come {
            let others = obeyed.iter().any(|(_, other)| *other != number);
            return others.then_some(()).ok_or("although the switch served no other controller");
        }
        let own = entry.precedences.first().copied().unwrap_or_default();
        let greater = |(precedence, other): &&(u128, usize)| *other != number && *precedence > own;
        obeyed.iter().any(|it| greater(&it)).then_some(()).ok_or("although the switch obeyed no greater id")
    }

    /// Checks the case without a running controller: the last one was killed, or a switch refused its plans.
    pub(super) fn none_ended_in_vain(&self) -> Result<(), String> {
        let ends =
            |process: &Process| process.was_killed || matches!(process.ended, Some(DaemonError::Install(_)));
        if self.processes.is_empty() || self.processes.iter().any(ends) {
            return Ok(());
        }
        let all: Vec<_> = self.processes.iter().filter_map(|process| process.ended.as_ref()).collect();
        Err(format!("controllers replaced each other: {all:?}"))
    }
}

impl Plant {
    /// Handles that a controller ended. If a switch refused its plans, only switches that its error names may
    /// hold any of them.
    pub fn ends(&self, number: usize, error: &DaemonError) {
        let mut inner = self.lock();
        inner.ledger[number].is_over = true;
        let named: Vec<_> = match error {
            DaemonError::Install(InstallError::Undone { .. }) => Vec::new(),
            DaemonError::Install(InstallError::NotUndone { undo, .. }) => {
                undo.0.iter().map(|(switch, _)| switch.as_str()).collect()
            }
            _ => return,
        };
        inner.tally.installs_rolled_back += 1;
        let unnamed = inner.switches.iter().filter(|(name, _)| !named.contains(&name.as_str()));
        let mut left = unnamed.filter_map(|(name, switch)| {
            let held = |(job, plan_version): &(JobId, PlanVersion)| {
                switch.memory.tables.plan_versions(*job).contains(plan_version)
            };
            let mut written = switch.written.iter().filter(|(_, by)| **by == (number, number));
            written
                .find(|(plan_version, _)| held(plan_version))
                .map(|(plan_version, _)| (name.clone(), *plan_version))
        });
        let Some((name, (job, plan_version))) = left.next() else { return };
        drop(left);
        inner.blame(|| {
            format!(
                "controller {number} undid its install, and switch {name} holds plan version {plan_version} of job {job}"
            )
        });
    }
}
