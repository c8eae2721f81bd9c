//! What was pushed to a network, for rollback and to know which plan versions hosts may still use. The
//! switches' tables say what is installed; the records only say what of it matters, so losing them loses no
//! working plan.

mod change;
mod changing;
mod claims;
mod error;
mod file;
mod job;
mod peers;
mod push;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use inart_topologies::former::with_present_keys;
use inart_topologies::peers::FIRST_JOB;
use inart_wire::{Incarnation, JobId, PlanVersion, ValuesPerFrame};
use serde::{Deserialize, Serialize};

use crate::peers::is_of_peers;
pub use change::{Change, Stage};
pub use claims::Claims;
pub use error::{NoEarlierPush, RecordsError};
pub use file::{RECORDS_FORMAT, file_name};
pub use job::JobRecord;
pub use peers::{PeersPush, PeersRecord};
pub use push::Push;
use store::Store;

/// Pushes remembered per job.
const HISTORY: usize = 16;

/// What is known of one network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Addresses of the switches at the last push, as given then.
    #[serde(default)]
    pub switches: BTreeMap<String, String>,
    /// The topology document of the newest push of any job; absent in records of versions that did not note
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topology: Option<String>,
    /// Values per frame of the program that the switches had at the newest push of any job; absent in records
    /// of versions that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<ValuesPerFrame>,
    /// What is known of its jobs.
    #[serde(default)]
    pub jobs: BTreeMap<JobId, JobRecord>,
    /// What is known of the network of peers on the same switches.
    #[serde(default, skip_serializing_if = "PeersRecord::is_empty")]
    pub peers: PeersRecord,
    /// Where the records are kept.
    #[serde(skip)]
    store: Store<Records>,
    /// The addresses that this process was given, for the next push.
    #[serde(skip)]
    given: Option<BTreeMap<String, String>>,
}

/// What came of a host's claim to run in a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is the first in this role under this plan version, or asks again, and may run.
    Granted,
    /// Another one in this role has run under this plan version before, or under one before it in the same
    /// run.
    Taken,
    /// The plan version is none that the job's hosts use; the live one is this, if it has any.
    NotInForce(Option<PlanVersion>),
}

/// An install that succeeded, for one job.
pub struct Success {
    /// The job.
    pub job: JobId,
    /// What was pushed.
    pub push: Push,
    /// Plan versions that still have entries though no host uses them.
    pub stale: BTreeSet<PlanVersion>,
}

impl file::Recorded for Records {
    fn renew(&mut self) {
        let documents = self.jobs.values_mut().flat_map(JobRecord::documents_mut);
        let documents = documents.chain(&mut self.topology).chain(self.peers.documents_mut());
        documents.for_each(|document| *document = with_present_keys(document));
    }
}

impl Records {
    /// Opens the records of the network named `topology` in `folder`; new ones if there are none.
    ///
    /// # Errors
    /// Files that cannot be read, or that are of another topology.
    pub fn open(folder: &Path, topology: &str) -> Result<Self, RecordsError> {
        let path = file::path(folder, topology);
        Ok(Records { store: Store::File(path.clone()), ..file::read(&path)? })
    }

    /// Creates empty records in memory that all clones share, as processes share a file. Simulations use
    /// them.
    pub fn shared() -> Self {
        Records { store: Store::Shared(Arc::default()), ..Records::default() }
    }

    /// Reads them again, as other processes left them.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn refresh(&mut self) -> Result<(), RecordsError> {
        *self = self.fresh()?;
        Ok(())
    }

    /// Names of the networks with records in `folder`, sorted.
    pub fn networks(folder: &Path) -> Vec<String> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file::name_of(file.file_name().to_str()?));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Takes these addresses for those of the switches; the next push notes them.
    pub fn give_switches(&mut self, addresses: BTreeMap<String, String>) {
        self.given = Some(addresses);
    }

    /// The document of the newest topology that any job was pushed on; `None` if nothing was pushed, or if
    /// nobody noted which of several is the newest.
    pub fn newest_topology(&self) -> Option<&str> {
        let mut live = self.jobs.values().filter_map(|record| Some(record.live()?.topology.as_str()));
        let only = live.next().filter(|first| live.all(|other| other == *first));
        self.topology.as_deref().or(only)
    }

    /// Values per frame of the program that the switches had at the newest push, if there was any.
    pub fn installed_values(&self) -> Option<ValuesPerFrame> {
        let of_jobs = || self.jobs.values().find_map(|record| Some(record.live()?.values));
        self.values.or_else(of_jobs)
    }

    /// The push before the last of a job. One of another job, which had the same number on an older topology,
    /// is none.
    ///
    /// # Errors
    /// No such push.
    pub fn before_last(&self, job: JobId) -> Result<&Push, NoEarlierPush> {
        let mut pushes = self.jobs.get(&job).into_iter().flat_map(|record| record.pushes.iter().rev());
        let live = pushes.next();
        let name = live.map_or_else(|| job.to_string(), |live| live.plan.job.clone());
        pushes.next().filter(|push| push.plan.job == name).ok_or(NoEarlierPush { job: name })
    }

    /// Returns the network of peers before the last push of one, which had this job.
    ///
    /// # Errors
    /// Only one network of peers was pushed.
    pub fn peers_before_last(&self, job: JobId) -> Result<&PeersPush, NoEarlierPush> {
        self.peers.before_last().ok_or_else(|| {
            let live = self.peers.live().and_then(|push| push.peers().ok());
            let name = live.and_then(|live| {
                live.jobs().find(|(number, _)| *number == job).map(|(_, job)| job.name.clone())
            });
            NoEarlierPush { job: name.unwrap_or_else(|| job.to_string()) }
        })
    }

    /// Notes, before anything is written, under which plan versions an install is about to leave entries.
    /// These records must still be what the plan versions were chosen by.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn begin(&mut self, plan_versions: &BTreeMap<JobId, PlanVersion>) -> Result<(), RecordsError> {
        self.change_jobs(plan_versions.keys(), |records| {
            for (job, plan_version) in plan_versions.iter().filter(|(job, _)| !is_of_peers(**job)) {
                let record = records.jobs.entry(*job).or_default();
                if record.live().is_none_or(|live| live.plan_version != *plan_version) {
                    record.stale.insert(*plan_version);
                }
            }
        })
    }

    /// Notes an install that succeeded on the topology in document `topology`, in place of each job's last
    /// `struck` pushes.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn succeed(
        &mut self,
        struck: usize,
        topology: String,
        done: Vec<Success>,
    ) -> Result<(), RecordsError> {
        self.succeed_with_peers(struck, topology, done, None)
    }

    /// Notes the same, and of a network of peers, if one was pushed, in place of its last `struck` pushes.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn succeed_with_peers(
        &mut self,
        struck: usize,
        topology: String,
        done: Vec<Success>,
        peers: Option<PeersPush>,
    ) -> Result<(), RecordsError> {
        let of_peers = peers.iter().map(|_| JobId::from(FIRST_JOB));
        let jobs: Vec<_> = done.iter().map(|success| success.job).chain(of_peers).collect();
        self.change_jobs(jobs.iter(), |records| {
            records.topology = Some(topology);
            let values = done.last().map(|success| success.push.values);
            records.values = values.or(peers.as_ref().map(|push| push.values)).or(records.values);
            if let Some(push) = peers {
                records.peers.add(struck, push, HISTORY);
            }
            for Success { job, push, stale } in done {
                let record = records.jobs.entry(job).or_default();
                if record.live().is_some_and(|live| live.plan_version == push.plan_version) {
                    // What a change had begun to write has been removed.
                    record.change.take_if(|change| change.open().is_none());
                    record.stale = stale;
                    continue;
                }
                record.drop_change();
                record.began = None;
                record.stale = stale;
                record.pushes.truncate(record.pushes.len().saturating_sub(struck));
                record.add(push);
                record.claimed.clear();
                record.removed = None;
            }
        })
    }

    /// Notes that the jobs are on no switch any more. Of their plan versions, `newest` (by job) were the
    /// newest on switches.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn forget(&mut self, newest: &BTreeMap<JobId, Option<PlanVersion>>) -> Result<(), RecordsError> {
        self.change_jobs(newest.keys(), |records| {
            for (job, on_switches) in newest {
                if is_of_peers(*job) {
                    records.peers.remove(*job);
                    continue;
                }
                let record = records.jobs.entry(*job).or_default();
                let known = record.live().map(|live| live.plan_version).into_iter().chain(record.removed);
                let known = known.chain(record.undone).chain(record.change.map(|change| change.other));
                let known = known.chain(record.stale.iter().copied()).chain(*on_switches);
                *record = JobRecord { removed: crate::intent::newest(known), ..JobRecord::default() };
            }
        })
    }

    /// Notes that a host, in that `incarnation`, runs in `role` (such as worker-3) under the job's live plan
    /// version, or the one beside it during a change, unless another one did before. Of several controllers
    /// that are asked at the same time, all grant it to the same one.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn claim(
        &mut self,
        job: JobId,
        plan_version: PlanVersion,
        role: String,
        incarnation: Incarnation,
    ) -> Result<Claim, RecordsError> {
        self.change(|_, records| {
            let record = records.jobs.get_mut(&job);
            let live = record.as_ref().and_then(|record| Some(record.live()?.plan_version));
            Ok(match record {
                Some(record) if live == Some(plan_version) || record.open() == Some(plan_version) => {
                    match record.claimed.grant(role, incarnation) {
                        true => Claim::Granted,
                        false => Claim::Taken,
                    }
                }
                _ => Claim::NotInForce(live),
            })
        })
    }

    /// What is kept now; what this process alone knows stays.
    fn fresh(&self) -> Result<Self, RecordsError> {
        Ok(self.keeping(self.store.read(self)?))
    }

    /// `read` with what this process alone knows.
    fn keeping(&self, read: Records) -> Records {
        Records { store: self.store.clone(), given: self.given.clone(), ..read }
    }

    /// Changes the records of these jobs, if nobody else did since they were read. Those of all jobs of peers
    /// are one.
    fn change_jobs<'a>(
        &mut self,
        mut jobs: impl Iterator<Item = &'a JobId>,
        change: impl FnOnce(&mut Records),
    ) -> Result<(), RecordsError> {
        self.change(|before, records| {
            let none = JobRecord::default();
            let same = |job: &JobId| {
                if is_of_peers(*job) {
                    return before.peers == records.peers;
                }
                let [before, now] = [before, &*records].map(|records| records.jobs.get(job).unwrap_or(&none));
                before.same_pushes(now)
            };
            if let Some(job) = jobs.find(|job| !same(job)) {
                let path = before.store.path();
                return Err(RecordsError::Raced { path, job: *job });
            }
            change(records);
            if let Some(given) = &records.given {
                records.switches.clone_from(given);
            }
            Ok(())
        })
    }

    /// Changes what the file holds, between nobody else's changes, and keeps it. `change` sees what this
    /// process knew before, too. After an error everything is as it was.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&Records, &mut Records) -> Result<T, RecordsError>,
    ) -> Result<T, RecordsError> {
        let store = self.store.clone();
        let (lock, read) = store.lock(self)?;
        let found = self.keeping(read);
        let mut changed = found.clone();
        let done = change(self, &mut changed)?;
        if changed != found {
            // In shared memory it would hold itself.
            lock.replace(&Records { store: Store::Own, given: None, ..changed.clone() })?;
        }
        *self = changed;
        Ok(done)
    }
}
