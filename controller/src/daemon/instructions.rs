//! Instructions to hosts that watch the daemon, and their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_controller_api::{Ending, Instruction};
use inart_protocol_aggregation::Assignment;
use inart_wire::{Incarnation, JobId, PlanVersion};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::hosts::{Answer, JobHosts, JobInstruction, Progress};
use super::meeting::EndingAnswer;
use super::state::{NoInstructions, State};
use crate::api::proto;

/// Interval of checks whether an awaited host is disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Time without results after which lagging workers are forced to migrate.
const NO_RESULT: Duration = Duration::from_secs(1);

/// Result of a coordinated cut-over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CutOver {
    /// Complete migration, with the number of hosts.
    Complete(usize),
    /// Timeout, with the hosts that have not migrated, by role.
    Stalled(Vec<String>),
}

impl State {
    /// Streams instructions to the host that was granted that role in that `incarnation`. Waits for the
    /// records' file.
    pub(crate) fn watch_instructions(
        &self,
        job: JobId,
        role: &str,
        incarnation: Incarnation,
    ) -> Result<watch::Receiver<Instruction>, NoInstructions> {
        self.is_granted(job, role, incarnation)?;
        let inner = self.inner();
        let hosts = inner.installed.as_ref().ok_or(NoInstructions::NotYet)?;
        let hosts = hosts.iter().find(|hosts| hosts.job() == job).ok_or(NoInstructions::NotGranted)?;
        hosts.subscribe().ok_or(NoInstructions::NotYet)
    }

    /// Stores that host's answer to an instruction. Waits for the records' file.
    pub(crate) fn acknowledge(
        &self,
        job: JobId,
        role: String,
        incarnation: Incarnation,
        answer: Answer,
        report: EndingAnswer,
    ) -> Result<(), NoInstructions> {
        self.is_granted(job, &role, incarnation)?;
        let mut inner = self.inner();
        let hosts = inner.installed.as_mut().ok_or(NoInstructions::NotYet)?;
        let hosts = hosts.iter_mut().find(|hosts| hosts.job() == job).ok_or(NoInstructions::NotGranted)?;
        hosts.record_answer(role.clone(), answer);
        drop(inner);
        self.on_ending_answer(job, &role, incarnation, report);
        self.answered.notify_waiters();
        Ok(())
    }

    fn is_granted(&self, job: JobId, role: &str, incarnation: Incarnation) -> Result<(), NoInstructions> {
        let records = self.records();
        let record = records.as_ref().ok_or(NoInstructions::NotYet)?.jobs.get(&job);
        let granted = record.is_some_and(|record| record.claimed.has(role, incarnation));
        if granted { Ok(()) } else { Err(NoInstructions::NotGranted) }
    }

    /// Sends an instruction to the hosts of a job.
    pub(super) fn instruct(&self, current: JobInstruction) {
        let mut inner = self.inner();
        let job = current.instruction.assignment.job;
        if let Some(hosts) = inner.installed.iter_mut().flatten().find(|hosts| hosts.job() == job) {
            hosts.set(current);
        }
    }

    /// Sends the ending of the view to the hosts of a job.
    pub(super) fn send_ending(&self, job: JobId, ending: Ending) {
        let mut inner = self.inner();
        if let Some(hosts) = inner.installed.iter_mut().flatten().find(|hosts| hosts.job() == job) {
            hosts.set_ending(ending);
        }
    }

    /// Starts another view of a job: its hosts get this instruction, hosts of the previous view nothing
    /// more.
    pub(super) fn begin_view(&self, current: JobInstruction) {
        let mut inner = self.inner();
        let job = current.instruction.assignment.job;
        if let Some(hosts) = inner.installed.iter_mut().flatten().find(|hosts| hosts.job() == job) {
            *hosts = JobHosts::new(current);
        }
    }

    /// Returns the assignment of a job's hosts.
    pub(super) fn assigned(&self, job: JobId) -> Option<Assignment> {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job)?;
        Some(hosts.current().instruction.assignment)
    }

    /// Waits for up to `limit` until all hosts of a job have acknowledged their instruction, and passes
    /// their progress to `watch`. Returns the number of hosts.
    ///
    /// # Errors
    /// A host that refuses or does not answer, in words.
    pub(super) async fn all_acknowledged(
        &self,
        job: JobId,
        limit: Duration,
        watch: impl Fn(&Progress),
    ) -> Result<usize, String> {
        let until = Instant::now() + limit;
        loop {
            let answered = self.answered.notified();
            let progress = self.progress(job);
            watch(&progress);
            if let Some((role, why)) = progress.refusal {
                return Err(format!("{role} refuses: {why}"));
            }
            if progress.missing.is_empty() {
                return Ok(progress.hosts);
            }
            // An absent member answers no more: its job forms another view.
            if let Some(absent) = self.absent(job) {
                return Err(absent);
            }
            let look = (Instant::now() + CHECK_INTERVAL).min(until);
            if timeout_at(look, answered).await.is_err() && look == until {
                let seconds = limit.as_secs_f64();
                return Err(format!(
                    "no acknowledgement from {} within {seconds} s",
                    progress.missing.join(", ")
                ));
            }
        }
    }

    /// Waits until all hosts of a job have acknowledged their instruction, and its workers have followed
    /// their servers: for as long as they get results, but at most for `limit`. Passes their progress to
    /// `watch`.
    ///
    /// # Errors
    /// A host that refuses or is absent, in words.
    pub(super) async fn all_migrated(
        &self,
        job: JobId,
        limit: Duration,
        watch: impl Fn(&Progress),
    ) -> Result<CutOver, String> {
        let (begun, mut results) = (Instant::now(), None);
        let mut since = begun;
        loop {
            let answered = self.answered.notified();
            let progress = self.progress(job);
            watch(&progress);
            if let Some((role, why)) = progress.refusal {
                return Err(format!("{role} refuses: {why}"));
            }
            if progress.missing.is_empty() && progress.lagging.is_empty() {
                return Ok(CutOver::Complete(progress.hosts));
            }
            if let Some(absent) = self.absent(job) {
                return Err(absent);
            }
            if results.replace(progress.results) != Some(progress.results) {
                since = Instant::now();
            }
            let until = (since + NO_RESULT).min(begun + limit);
            let look = (Instant::now() + CHECK_INTERVAL).min(until);
            if timeout_at(look, answered).await.is_err() && look == until {
                return Ok(CutOver::Stalled([progress.missing, progress.lagging].concat()));
            }
        }
    }

    fn progress(&self, job: JobId) -> Progress {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job);
        hosts.map(JobHosts::progress).unwrap_or_default()
    }

    /// Returns the jobs that have instructions.
    pub(super) fn jobs(&self) -> Vec<JobId> {
        self.inner().installed.iter().flatten().map(JobHosts::job).collect()
    }

    /// Adds a job, or replaces its instruction.
    pub(super) fn add_job(&self, current: JobInstruction) {
        let job = current.instruction.assignment.job;
        if let Some(installed) = &mut self.inner().installed {
            installed.retain(|hosts| hosts.job() != job);
            installed.push(JobHosts::new(current));
            installed.sort_by_key(JobHosts::job);
        }
    }

    /// Ends the instructions of a job.
    pub(super) fn drop_job(&self, job: JobId) {
        if let Some(installed) = &mut self.inner().installed {
            installed.retain(|hosts| hosts.job() != job);
        }
    }

    /// Returns the number of a job's watching hosts.
    pub(super) fn watchers(&self, job: JobId) -> usize {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job);
        hosts.map_or(0, JobHosts::watchers)
    }

    /// Returns the jobs with watching hosts, and their active plan versions.
    pub(super) fn watched_jobs(&self) -> Vec<(JobId, PlanVersion)> {
        let inner = self.inner();
        let watched_jobs = inner.installed.iter().flatten().filter(|hosts| hosts.is_watched());
        watched_jobs.map(|hosts| (hosts.job(), hosts.current().instruction.assignment.plan_version)).collect()
    }

    /// Returns the names of jobs with watching hosts.
    pub(super) fn watched_names(&self) -> BTreeMap<JobId, String> {
        let inner = self.inner();
        let watched_jobs = inner.installed.iter().flatten().filter(|hosts| hosts.is_watched());
        watched_jobs.map(|hosts| (hosts.job(), hosts.current().instruction.assignment.name)).collect()
    }

    /// Returns the last reports of the hosts of each watched job, by job and name of the host.
    pub(super) fn host_reports(&self) -> BTreeMap<(String, String), proto::ReportMetricsRequest> {
        let reports = self.steered.reports();
        let hosts = self.hosts_by_role().into_iter();
        hosts.filter_map(|(who, host)| Some((host, reports.get(&who)?.clone()))).collect()
    }

    /// Returns the names of the hosts whose processes are connected to the daemon.
    pub(super) fn connected_hosts(&self) -> BTreeSet<String> {
        let streams = self.open_streams();
        let hosts = self.hosts_by_role().into_iter();
        hosts.filter(|(who, _)| streams.contains(who)).map(|(_, (_, host))| host).collect()
    }

    /// Returns the hosts of each watched job: number of the job and role, then names of job and host.
    fn hosts_by_role(&self) -> Vec<((JobId, String), (String, String))> {
        let inner = self.inner();
        let watched_jobs = inner.installed.iter().flatten().filter(|hosts| hosts.is_watched());
        let by_name = watched_jobs.flat_map(|hosts| {
            let JobInstruction { instruction: Instruction { assignment, .. }, .. } = hosts.current();
            let role = |kind: &str, place: usize| (assignment.job, format!("{kind}-{place}"));
            let workers = assignment.workers.iter().enumerate();
            let servers = assignment.shards.iter().enumerate();
            let named = workers
                .map(|(rank, worker)| (role("worker", rank), worker.name.clone()))
                .chain(servers.map(|(shard, server)| (role("server", shard), server.server.clone())));
            let job = assignment.name.clone();
            named.map(move |(who, host)| (who, (job.clone(), host))).collect::<Vec<_>>()
        });
        by_name.collect()
    }

    /// Waits for up to `limit` until all hosts of a job have acknowledged their last instruction. Returns
    /// the ones that have not, by role; none for an unknown job.
    pub(super) async fn not_acknowledged(&self, job: &str, limit: Duration) -> Vec<String> {
        let until = Instant::now() + limit;
        loop {
            let answered = self.answered.notified();
            let missing = self.missing(job);
            if missing.is_empty() || timeout_at(until, answered).await.is_err() {
                return missing;
            }
        }
    }

    /// Returns hosts of a job that have not acknowledged, by role.
    fn missing(&self, job: &str) -> Vec<String> {
        let inner = self.inner();
        let mut all = inner.installed.iter().flatten();
        let hosts = all.find(|hosts| hosts.current().instruction.assignment.name == job);
        hosts.map(|hosts| hosts.progress().missing).unwrap_or_default()
    }

    /// Stores a report of the host that was granted that role in that `incarnation`. Waits for the records'
    /// file.
    pub(crate) fn report(
        &self,
        job: JobId,
        report: proto::ReportMetricsRequest,
        incarnation: Incarnation,
    ) -> Result<(), NoInstructions> {
        self.is_granted(job, &report.role, incarnation)?;
        self.steered.store_report(job, report);
        Ok(())
    }
}
