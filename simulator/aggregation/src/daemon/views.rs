//! Views of elastic jobs: planning, installation and notification.

use inart_controller::membership::{Ending, Formation, MemberRole};
use inart_controller::{is_for, next_view, plan_view};
use inart_wire::{Incarnation, PlanVersion};

use super::audit::ViewAudit;
use super::member::At;
use super::work::Work;
use crate::Error;
use crate::simulation::Simulation;

impl Simulation<'_> {
    /// Installs a planned view, and reports the outcome to the rendezvous.
    pub(super) fn form(&mut self, job: usize, formation: &Formation) -> Result<(), Error> {
        let outcome = self.install_run(job, formation)?;
        match &outcome {
            Ok(view) => {
                self.wire.tally.views += 1;
                self.wire.log.note(self.wire.now, || format!("run {view} of {formation:?}"));
                self.begin_audit(job, *view, formation);
            }
            Err(why) => self.wire.log.note(self.wire.now, || format!("no view starts: {why}")),
        }
        self.at_rendezvous(job, |membership, now| membership.formed(now, outcome));
        if matches!(self.daemon.work, Some(Work::Forming(forming)) if forming == job) {
            self.daemon.work = None;
        }
        // Waiting hosts are answered at once.
        let within = self.options.live.as_ref().map_or(0, |live| live.notify_within.0);
        let asking: Vec<_> = self.daemon.jobs[job]
            .meeting
            .iter()
            .flat_map(|meeting| &meeting.hosts)
            .filter(|member| matches!(member.at, At::Asking(_)))
            .map(|member| member.process)
            .collect();
        asking.into_iter().for_each(|id| self.plan_ask(id, within));
        Ok(())
    }

    /// Does what the daemon's `view_of` does.
    fn install_run(
        &mut self,
        job: usize,
        formation: &Formation,
    ) -> Result<Result<PlanVersion, String>, Error> {
        if self.daemon.jobs[job].is_removed {
            return Ok(Err("the job was removed".to_owned()));
        }
        let number = self.daemon.jobs[job].instruction.assignment.job;
        let record = self.daemon.records.jobs.get(&number).cloned().unwrap_or_default();
        let Some(live) = record.live().cloned() else { return Ok(Err("no plan is active".to_owned())) };
        let claims = claims(formation);
        if record.claimed.is_empty() && is_for(&live.plan, formation) {
            self.daemon.records.begin_view(number, None, claims)?;
            self.daemon.jobs[job].instruction.view += 1;
            self.daemon.jobs[job].instruction.ending = Ending::None;
            return Ok(Ok(live.plan_version));
        }
        let others = self.daemon.records.jobs.iter().filter(|(other, _)| **other != number);
        let others: Vec<_> = others.filter_map(|(_, record)| Some(record.live()?.plan.clone())).collect();
        let planned = plan_view(&self.network.topology, &others, &live.plan, formation, &|| 0.0);
        let (plan, fair) = match planned {
            Ok(planned) => planned,
            Err(why) => return Ok(Err(why)),
        };
        self.wire.tally.squeezed += u64::from(!fair.is_empty());
        self.slow_down(&fair);
        let next = match next_view(&self.daemon.fabric, &self.changing.tables, &record, number, plan) {
            Ok(next) => next,
            Err(why) => return Ok(Err(why.to_string())),
        };
        let plan_version = next.to.plan_version;
        self.daemon.records.begin(&[(number, plan_version)].into())?;
        let held = std::mem::replace(&mut self.changing.tables, next.desired);
        if self.is_refused()? {
            self.changing.tables = held;
            self.write_tables()?;
            return Ok(Err("a switch refuses".to_owned()));
        }
        self.daemon.records.begin_view(number, Some(next.to), claims)?;
        let instruction = &mut self.daemon.jobs[job].instruction;
        (instruction.assignment, instruction.previous, instruction.ending) =
            (next.assignment, None, Ending::None);
        instruction.view += 1;
        instruction.version += 1;
        self.daemon.jobs[job].answers.clear();
        Ok(Ok(plan_version))
    }

    /// Starts the audit of the new view; what the previous one has left is audited now.
    fn begin_audit(&mut self, job: usize, view: PlanVersion, formation: &Formation) {
        let live = &mut self.daemon.jobs[job];
        let Some(meeting) = &mut live.meeting else { return };
        let names = formation.workers.iter().chain(&formation.servers).map(|(host, _)| host);
        let process = |name: &String| meeting.hosts.iter().find(|member| member.name == *name);
        meeting.seated = names.filter_map(|name| Some(process(name)?.process)).collect();
        let still: Vec<_> =
            meeting.hosts.iter().filter(|member| matches!(member.at, At::Running(_))).collect();
        let still = still.first().map(|member| member.name.clone());
        let mut closed = Ok(());
        for audit in meeting.audits.values_mut() {
            closed = closed.and(audit.close());
            self.jobs[job].rounds.audited += std::mem::take(&mut audit.audited);
            self.jobs[job].rounds.sums_checked += std::mem::take(&mut audit.sums_checked);
        }
        let is_known = meeting.audits.values().any(|audit| audit.view == view.get());
        meeting.audits.insert(live.instruction.view, ViewAudit::new(&live.instruction.assignment));
        self.assignments[job].clone_from(&live.instruction.assignment);
        if let Err(problem) = closed {
            self.jobs[job].wrong.get_or_insert(problem);
        }
        if is_known {
            self.complain(job, format!("two runs have number {view}"));
        }
        if let Some(host) = still {
            self.wire.tally.hanging += 1;
            self.wire.log.note(self.wire.now, || format!("{host} is still in an earlier view"));
        }
    }

    pub(super) fn audit_mut(&mut self, job: usize, view: u32) -> Option<&mut ViewAudit> {
        self.daemon.jobs[job].meeting.as_mut()?.audits.get_mut(&view)
    }
}

/// The roles that a formation's hosts have.
fn claims(formation: &Formation) -> Vec<(String, Incarnation)> {
    let workers = formation.workers.iter().enumerate().map(|(rank, host)| (MemberRole::Worker(rank), host.1));
    let servers =
        formation.servers.iter().enumerate().map(|(shard, host)| (MemberRole::Server(shard), host.1));
    workers.chain(servers).map(|(place, incarnation)| (place.to_string(), incarnation)).collect()
}
