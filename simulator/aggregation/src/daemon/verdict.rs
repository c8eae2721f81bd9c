//! Verdict on the daemon's actions.

use inart_tables::diff;

use super::member::At;
use crate::simulation::{Node, Simulation};

impl Simulation<'_> {
    /// Closes the audits of the last views of elastic jobs.
    pub(crate) fn close_audits(&mut self) {
        for (job, live) in self.daemon.jobs.iter_mut().enumerate() {
            for audit in live.meeting.iter_mut().flat_map(|meeting| meeting.audits.values_mut()) {
                let closed = audit.close();
                let rounds = &mut self.jobs[job].rounds;
                rounds.audited += std::mem::take(&mut audit.audited);
                rounds.sums_checked += std::mem::take(&mut audit.sums_checked);
                if let Err(problem) = closed {
                    self.jobs[job].wrong.get_or_insert(problem);
                }
            }
        }
    }

    /// Returns why the run failed although its sums are right, if it did.
    pub(crate) fn live_failure(&self) -> Option<String> {
        self.options.live.as_ref()?;
        self.daemon.problem.clone().or_else(|| {
            (0..self.daemon.jobs.len()).find_map(|job| self.elastic_failure(job)).or_else(|| self.leftovers())
        })
    }

    fn elastic_failure(&self, job: usize) -> Option<String> {
        let (live, name) = (&self.daemon.jobs[job], &self.assignments[job].name);
        let meeting = live.meeting.as_ref()?;
        let mut ended = meeting.hosts.iter().filter_map(|member| Some((&member.name, member.done_with()?)));
        if let Some((first, with)) = ended.next()
            && let Some((other, others)) = ended.find(|(_, others)| *others != with)
        {
            return Some(format!(
                "job {name}: {first} ends with {with:?} (rounds, state), {other} with {others:?}"
            ));
        }
        let incarnations = |is_worker| {
            meeting.hosts.iter().any(|member| member.is_worker == is_worker && member.incarnations())
        };
        if meeting.is_done || meeting.is_paused || !incarnations(true) || !incarnations(false) {
            return None;
        }
        let at = |member: &super::member::Member| match &member.at {
            At::Running(_) => format!("{} runs", member.name),
            At::Asking(_) => format!("{} waits", member.name),
            At::Dead => format!("{} is not running", member.name),
            At::Done | At::Ended => format!("{} has ended", member.name),
        };
        let hosts: Vec<_> = meeting.hosts.iter().map(at).collect();
        Some(format!("hang: job {name}: {}; {}", meeting.membership.status().phase, hosts.join(", ")))
    }

    /// Records unneeded entries while no job migrates.
    pub(super) fn check_tables(&mut self) {
        if self.daemon.work.is_none()
            && self.daemon.problem.is_none()
            && let Some(problem) = self.unneeded()
        {
            self.daemon.problem = Some(problem);
        }
    }

    /// Returns missing or unneeded entries of a switch when the daemon is idle.
    fn leftovers(&self) -> Option<String> {
        if self.daemon.is_busy() {
            return None;
        }
        for (id, node) in self.network.topology.node_ids().zip(&self.nodes) {
            let Node::Switch(node) = node else { continue };
            let name = &self.network.topology.node(id).name;
            if node.switch.program().is_some()
                && let Some(update) = diff(&node.tables, &self.changing.tables[name]).first()
            {
                return Some(format!("switch {name} lacks an update: {update:?}"));
            }
        }
        self.unneeded()
    }

    /// Returns entries of a plan version that no host uses and that the records do not know, or a job's plan
    /// version without entries.
    fn unneeded(&self) -> Option<String> {
        let records = &self.daemon.records.jobs;
        for (name, wanted) in &self.changing.tables {
            for job in wanted.jobs() {
                let record = records.get(&job);
                let live = record.and_then(|record| Some(record.live()?.plan_version));
                let is_left = |plan_version: &_| {
                    Some(*plan_version) != live
                        && record.is_none_or(|record| !record.stale.contains(plan_version))
                };
                if let Some(plan_version) = wanted.plan_versions(job).into_iter().find(is_left) {
                    return Some(format!(
                        "switch {name} has entries of job {job} under plan version {plan_version}, but {live:?} is active"
                    ));
                }
            }
        }
        let lacks = |(job, plan_version)| {
            (!self.changing.tables.values().any(|tables| tables.plan_versions(job).contains(&plan_version)))
                .then(|| format!("job {job} has no entries under the active plan version {plan_version}"))
        };
        records.iter().filter_map(|(job, record)| Some((*job, record.live()?.plan_version))).find_map(lacks)
    }
}
