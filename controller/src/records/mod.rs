//! Records of installations on a network, for rollback and to know which plan versions hosts may still use.
//! The switches' tables show what is installed; the records only add which entries are used, so that lost
//! records cost no working plan.

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

/// Number of pushes kept per job.
const HISTORY: usize = 16;

/// Records of one network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Addresses of the switches at the last push.
    #[serde(default)]
    pub switches: BTreeMap<String, String>,
    /// Topology document of the newest push of any job; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topology: Option<String>,
    /// Values per frame of the switches' program at the newest push of any job; absent in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<ValuesPerFrame>,
    /// Records of the jobs.
    #[serde(default)]
    pub jobs: BTreeMap<JobId, JobRecord>,
    /// Record of the network of peers on the same switches.
    #[serde(default, skip_serializing_if = "PeersRecord::is_empty")]
    pub peers: PeersRecord,
    /// Storage of the records.
    #[serde(skip)]
    store: Store<Records>,
    /// Addresses that this process was given, for the next push.
    #[serde(skip)]
    given: Option<BTreeMap<String, String>>,
}

/// Answer to a host's claim of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Permission: first host in this role under this plan version, or a repeated request.
    Granted,
    /// Refusal: another host in this role has run under this plan version, or under an earlier one of the
    /// same view.
    Refused,
    /// Refusal: the job's hosts do not use the plan version; the live one is given, if any.
    NotActive(Option<PlanVersion>),
}

/// Successful installation of one job.
pub struct Success {
    /// Number of the job.
    pub job: JobId,
    /// Push.
    pub push: Push,
    /// Unused plan versions that still have entries.
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
    /// Opens the records of network `topology` in `folder`; new ones if there are none.
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

    /// Reads the records again, with changes of other processes.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn refresh(&mut self) -> Result<(), RecordsError> {
        *self = self.fresh()?;
        Ok(())
    }

    /// Returns the names of the networks with records in `folder`, sorted.
    pub fn networks(folder: &Path) -> Vec<String> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file::name_of(file.file_name().to_str()?));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Sets the addresses of the switches for the next push.
    pub fn give_switches(&mut self, addresses: BTreeMap<String, String>) {
        self.given = Some(addresses);
    }

    /// Returns the document of the topology of the newest push; `None` without a push, or if the order of
    /// several is unknown.
    pub fn newest_topology(&self) -> Option<&str> {
        let mut live = self.jobs.values().filter_map(|record| Some(record.live()?.topology.as_str()));
        let only = live.next().filter(|first| live.all(|other| other == *first));
        self.topology.as_deref().or(only)
    }

    /// Returns the values per frame of the switches' program at the newest push, if any.
    pub fn installed_values(&self) -> Option<ValuesPerFrame> {
        let of_jobs = || self.jobs.values().find_map(|record| Some(record.live()?.values));
        self.values.or_else(of_jobs)
    }

    /// Returns the push before the last of a job. A push of another job that had the same number on an
    /// older topology does not count.
    ///
    /// # Errors
    /// A job without such a push.
    pub fn before_last(&self, job: JobId) -> Result<&Push, NoEarlierPush> {
        let mut pushes = self.jobs.get(&job).into_iter().flat_map(|record| record.pushes.iter().rev());
        let live = pushes.next();
        let name = live.map_or_else(|| job.to_string(), |live| live.plan.job.clone());
        pushes.next().filter(|push| push.plan.job == name).ok_or(NoEarlierPush { job: name })
    }

    /// Returns the network of peers before the last push of one, which had this job.
    ///
    /// # Errors
    /// A job with only one network of peers.
    pub fn peers_before_last(&self, job: JobId) -> Result<&PeersPush, NoEarlierPush> {
        self.peers.before_last().ok_or_else(|| {
            let live = self.peers.live().and_then(|push| push.peers().ok());
            let name = live.and_then(|live| {
                live.jobs().find(|(number, _)| *number == job).map(|(_, job)| job.name.clone())
            });
            NoEarlierPush { job: name.unwrap_or_else(|| job.to_string()) }
        })
    }

    /// Records, before anything is written, the plan versions under which an installation may leave
    /// entries. The records must not have changed since these plan versions were chosen.
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

    /// Records a successful installation on the topology in document `topology`, in place of each job's
    /// last `struck` pushes.
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

    /// Records a successful installation, and that of a network of peers if one was installed, in place of
    /// its last `struck` pushes.
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
                    // What an unfinished change wrote has been removed.
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

    /// Records that the jobs are removed from all switches. `newest` has the newest of their plan versions
    /// on switches, by job.
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

    /// Grants a host in `incarnation` the `role` (such as worker-3) under the job's live plan version, or
    /// the one next to it during a change, unless another host has the role. Controllers that are asked at
    /// the same time all grant it to the same host.
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
                        false => Claim::Refused,
                    }
                }
                _ => Claim::NotActive(live),
            })
        })
    }

    /// Returns the stored records with the data of this process only.
    fn fresh(&self) -> Result<Self, RecordsError> {
        Ok(self.keeping(self.store.read(self)?))
    }

    /// Returns `read` with the data of this process only.
    fn keeping(&self, read: Records) -> Records {
        Records { store: self.store.clone(), given: self.given.clone(), ..read }
    }

    /// Changes the records of these jobs, if no other process did since they were read. Jobs of peers share
    /// one record.
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

    /// Changes the stored records under the lock. `change` also gets this process's previous records. After
    /// an error everything is as before.
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
            // Shared memory must not contain itself.
            lock.replace(&Records { store: Store::Own, given: None, ..changed.clone() })?;
        }
        *self = changed;
        Ok(done)
    }
}
