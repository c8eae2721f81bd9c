//! Which hosts follow the daemon, what they are told, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_controller_api::{Ending, Instruction};
use inart_protocol_aggregation::Assignment;
use inart_wire::{Incarnation, JobId, PlanVersion};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::hosts::{Answer, JobHosts, Progress, Told};
use super::meeting::SaidOfEnd;
use super::state::{NotFollowed, State};
use crate::api::proto;

/// Whether a host that is waited for is gone is looked at this often.
const LOOK: Duration = Duration::from_millis(100);
/// Workers that have not followed their servers are told to move when they get no result for so long.
const NO_RESULT: Duration = Duration::from_secs(1);

/// How it went when workers were to follow their servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Led {
    /// They have; how many hosts there are.
    All(usize),
    /// These hosts have not, and nothing moves: by role.
    Stalled(Vec<String>),
}

impl State {
    /// What the host that was granted that role in that `incarnation` is told, now and later. Waits for the
    /// records' file.
    pub(crate) fn follow(
        &self,
        job: JobId,
        role: &str,
        incarnation: Incarnation,
    ) -> Result<watch::Receiver<Instruction>, NotFollowed> {
        self.is_granted(job, role, incarnation)?;
        let inner = self.inner();
        let hosts = inner.installed.as_ref().ok_or(NotFollowed::NotYet)?;
        let hosts = hosts.iter().find(|hosts| hosts.job() == job).ok_or(NotFollowed::NotGranted)?;
        hosts.follow().ok_or(NotFollowed::NotYet)
    }

    /// Hears what that host says to an instruction. Waits for the records' file.
    pub(crate) fn confirm(
        &self,
        job: JobId,
        role: String,
        incarnation: Incarnation,
        answer: Answer,
        said: SaidOfEnd,
    ) -> Result<(), NotFollowed> {
        self.is_granted(job, &role, incarnation)?;
        let mut inner = self.inner();
        let hosts = inner.installed.as_mut().ok_or(NotFollowed::NotYet)?;
        let hosts = hosts.iter_mut().find(|hosts| hosts.job() == job).ok_or(NotFollowed::NotGranted)?;
        hosts.hear(role.clone(), answer);
        drop(inner);
        self.said_of_end(job, &role, incarnation, said);
        self.heard.notify_waiters();
        Ok(())
    }

    fn is_granted(&self, job: JobId, role: &str, incarnation: Incarnation) -> Result<(), NotFollowed> {
        let records = self.records();
        let record = records.as_ref().ok_or(NotFollowed::NotYet)?.jobs.get(&job);
        let granted = record.is_some_and(|record| record.claimed.has(role, incarnation));
        if granted { Ok(()) } else { Err(NotFollowed::NotGranted) }
    }

    /// Tells the hosts of a job something else.
    pub(super) fn tell(&self, told: Told) {
        let mut inner = self.inner();
        let job = told.instruction.assignment.job;
        if let Some(hosts) = inner.installed.iter_mut().flatten().find(|hosts| hosts.job() == job) {
            hosts.tell(told);
        }
    }

    /// Tells the hosts of a job where their run ends.
    pub(super) fn tell_ending(&self, job: JobId, ending: Ending) {
        let mut inner = self.inner();
        if let Some(hosts) = inner.installed.iter_mut().flatten().find(|hosts| hosts.job() == job) {
            hosts.tell_ending(ending);
        }
    }

    /// Another run of a job begins: its hosts are told this, those of the run before nothing more.
    pub(super) fn begin_run(&self, told: Told) {
        let mut inner = self.inner();
        let job = told.instruction.assignment.job;
        if let Some(hosts) = inner.installed.iter_mut().flatten().find(|hosts| hosts.job() == job) {
            *hosts = JobHosts::new(told);
        }
    }

    /// What the hosts of a job are told, by its number.
    pub(super) fn assigned(&self, job: JobId) -> Option<Assignment> {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job)?;
        Some(hosts.told().instruction.assignment)
    }

    /// Waits until all hosts of a job do what they were told, for so long at most, and tells `watch` how far
    /// they are; how many there are.
    ///
    /// # Errors
    /// In words, who does not.
    pub(super) async fn all_follow(
        &self,
        job: JobId,
        limit: Duration,
        watch: impl Fn(&Progress),
    ) -> Result<usize, String> {
        let until = Instant::now() + limit;
        loop {
            let heard = self.heard.notified();
            let progress = self.progress(job);
            watch(&progress);
            if let Some((role, why)) = progress.refusal {
                return Err(format!("{role} refuses: {why}"));
            }
            if progress.missing.is_empty() {
                return Ok(progress.hosts);
            }
            // A member that is gone says nothing more: its job forms another run.
            if let Some(absent) = self.absent(job) {
                return Err(absent);
            }
            let look = (Instant::now() + LOOK).min(until);
            if timeout_at(look, heard).await.is_err() && look == until {
                let seconds = limit.as_secs_f64();
                return Err(format!("no word from {} within {seconds} s", progress.missing.join(", ")));
            }
        }
    }

    /// Waits until all hosts of a job do what they were told, and its workers have followed their servers: as
    /// long as they get results, but no longer than `limit`. Tells `watch` how far they are.
    ///
    /// # Errors
    /// In words, who refuses or is gone.
    pub(super) async fn all_led(
        &self,
        job: JobId,
        limit: Duration,
        watch: impl Fn(&Progress),
    ) -> Result<Led, String> {
        let (begun, mut results) = (Instant::now(), None);
        let mut since = begun;
        loop {
            let heard = self.heard.notified();
            let progress = self.progress(job);
            watch(&progress);
            if let Some((role, why)) = progress.refusal {
                return Err(format!("{role} refuses: {why}"));
            }
            if progress.missing.is_empty() && progress.lagging.is_empty() {
                return Ok(Led::All(progress.hosts));
            }
            if let Some(absent) = self.absent(job) {
                return Err(absent);
            }
            if results.replace(progress.results) != Some(progress.results) {
                since = Instant::now();
            }
            let until = (since + NO_RESULT).min(begun + limit);
            let look = (Instant::now() + LOOK).min(until);
            if timeout_at(look, heard).await.is_err() && look == until {
                return Ok(Led::Stalled([progress.missing, progress.lagging].concat()));
            }
        }
    }

    fn progress(&self, job: JobId) -> Progress {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job);
        hosts.map(JobHosts::progress).unwrap_or_default()
    }

    /// The jobs that hosts are told of.
    pub(super) fn jobs(&self) -> Vec<JobId> {
        self.inner().installed.iter().flatten().map(JobHosts::job).collect()
    }

    /// A job more, or one that is told otherwise from now on.
    pub(super) fn add_job(&self, told: Told) {
        let job = told.instruction.assignment.job;
        if let Some(installed) = &mut self.inner().installed {
            installed.retain(|hosts| hosts.job() != job);
            installed.push(JobHosts::new(told));
            installed.sort_by_key(JobHosts::job);
        }
    }

    /// The hosts of a job are told nothing any more.
    pub(super) fn drop_job(&self, job: JobId) {
        if let Some(installed) = &mut self.inner().installed {
            installed.retain(|hosts| hosts.job() != job);
        }
    }

    /// How many hosts follow a job's instructions.
    pub(super) fn followers(&self, job: JobId) -> usize {
        let inner = self.inner();
        let hosts = inner.installed.iter().flatten().find(|hosts| hosts.job() == job);
        hosts.map_or(0, JobHosts::followers)
    }

    /// The jobs that some host follows, with the plan versions in force.
    pub(super) fn followed(&self) -> Vec<(JobId, PlanVersion)> {
        let inner = self.inner();
        let followed = inner.installed.iter().flatten().filter(|hosts| hosts.is_followed());
        followed.map(|hosts| (hosts.job(), hosts.told().instruction.assignment.plan_version)).collect()
    }

    /// The names of the jobs that some host follows.
    pub(super) fn followed_names(&self) -> BTreeMap<JobId, String> {
        let inner = self.inner();
        let followed = inner.installed.iter().flatten().filter(|hosts| hosts.is_followed());
        followed.map(|hosts| (hosts.job(), hosts.told().instruction.assignment.name)).collect()
    }

    /// What the hosts of each job that is followed have said of themselves last, by job and name of the host.
    pub(super) fn said_by_hosts(&self) -> BTreeMap<(String, String), proto::ReportMetricsRequest> {
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

    /// Returns the hosts of each job that is followed: number of the job and role, then names of job and
    /// host.
    fn hosts_by_role(&self) -> Vec<((JobId, String), (String, String))> {
        let inner = self.inner();
        let followed = inner.installed.iter().flatten().filter(|hosts| hosts.is_followed());
        let by_name = followed.flat_map(|hosts| {
            let Told { instruction: Instruction { assignment, .. }, .. } = hosts.told();
            let role = |kind: &str, place: usize| (assignment.job, format!("{kind}-{place}"));
            let workers = assignment.workers.iter().enumerate();
            let servers = assignment.shards.iter().enumerate();
            let named = workers
                .map(|(rank, worker)| (role("worker", rank), worker.name.clone()))
                .chain(servers.map(|(shard, told)| (role("server", shard), told.server.clone())));
            let job = assignment.name.clone();
            named.map(move |(who, host)| (who, (job.clone(), host))).collect::<Vec<_>>()
        });
        by_name.collect()
    }

    /// Waits until all hosts of a job do what they were told last, for `limit` at most; those that do not, by
    /// role. Of a job that is not known, none.
    pub(super) async fn not_following(&self, job: &str, limit: Duration) -> Vec<String> {
        let until = Instant::now() + limit;
        loop {
            let heard = self.heard.notified();
            let missing = self.missing(job);
            if missing.is_empty() || timeout_at(until, heard).await.is_err() {
                return missing;
            }
        }
    }

    /// Hosts of a job that do not do what they were told, by role.
    fn missing(&self, job: &str) -> Vec<String> {
        let inner = self.inner();
        let mut all = inner.installed.iter().flatten();
        let hosts = all.find(|hosts| hosts.told().instruction.assignment.name == job);
        hosts.map(|hosts| hosts.progress().missing).unwrap_or_default()
    }

    /// Hears how the host that was granted that role in that `incarnation` is. Waits for the records' file.
    pub(crate) fn report(
        &self,
        job: JobId,
        said: proto::ReportMetricsRequest,
        incarnation: Incarnation,
    ) -> Result<(), NotFollowed> {
        self.is_granted(job, &said.role, incarnation)?;
        self.steered.hear(job, said);
        Ok(())
    }
}
