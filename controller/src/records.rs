//! What was pushed to a network, for rollback and to know which epochs hosts may still use. The switches' tables say
//! what is installed; the records only say what of it matters, so losing them loses no working plan.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use inart_planner::Plan;
use inart_wire::{Epoch, JobId, ValuesPerPacket};
use serde::{Deserialize, Serialize};

use crate::assignment::JobPlan;

/// Pushes remembered per job.
const HISTORY: usize = 16;

/// One plan that was pushed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// The epoch it got.
    pub epoch: Epoch,
    /// The plan.
    pub plan: Plan,
    /// The topology document it was pushed on.
    pub topology: String,
    /// Values per frame of the switches' program.
    pub values: ValuesPerPacket,
    /// Chunks in flight per worker and shard.
    pub window_chunks: u32,
    /// What the plan's rates were multiplied by for the hosts.
    pub rate_scale: f64,
}

impl Push {
    /// The plan, to be pushed again.
    pub fn job_plan(&self, job: JobId) -> JobPlan {
        JobPlan {
            job,
            plan: self.plan.clone(),
            window_chunks: self.window_chunks,
            rate_scale: self.rate_scale,
            new_epoch: false,
        }
    }
}

/// Two pushes are the same if hosts and switches cannot tell them apart: how long planning took does not matter.
impl PartialEq for Push {
    fn eq(&self, other: &Push) -> bool {
        let timeless = |push: &Push| Plan { solve_ms: 0.0, ..push.plan.clone() };
        let rest = |push: &Push| (push.epoch, push.values, push.window_chunks, push.rate_scale);
        rest(self) == rest(other) && self.topology == other.topology && timeless(self) == timeless(other)
    }
}

/// What is known of one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The pushes that succeeded and were not rolled back, oldest first; the last is live.
    pub pushes: VecDeque<Push>,
    /// Epochs that may still have entries though no host uses them: those before the live one, and those of pushes
    /// that were begun and not finished.
    pub stale: BTreeSet<Epoch>,
    /// Hosts that have run under the live epoch, such as worker-3.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub claimed: BTreeSet<String>,
}

impl JobRecord {
    /// The push that the hosts follow.
    pub fn live(&self) -> Option<&Push> {
        self.pushes.back()
    }
}

/// What is known of one network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Addresses of the switches at the last push, as given then.
    #[serde(default)]
    pub switches: BTreeMap<String, String>,
    /// What is known of its jobs.
    #[serde(default)]
    pub jobs: BTreeMap<JobId, JobRecord>,
    /// Where the records are kept; `None` keeps them in memory only.
    #[serde(skip)]
    file: Option<PathBuf>,
}

/// Records that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("records {path}: {reason}")]
pub struct RecordsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and the mend.
    pub reason: String,
}

/// Nothing to roll back to.
#[derive(Debug, thiserror::Error)]
#[error("job {job}: the records know no push before its last one, so there is nothing to go back to")]
pub struct NoEarlierPush {
    /// The job's name, or its number if nothing is known of it.
    pub job: String,
}

impl Records {
    /// Opens the records of the network named `topology` in `folder`; new ones if there are none.
    pub fn open(folder: &Path, topology: &str) -> Result<Self, RecordsError> {
        let path = folder.join(format!("{}.json", topology.replace(['/', '\\'], "_")));
        let error = |reason: String| RecordsError { path: path.clone(), reason };
        let mut records = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| {
                error(format!("not what `inart push` writes ({cause}); move the file away to start anew"))
            })?,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Records::default(),
            Err(cause) => return Err(error(format!("cannot be read ({cause}); choose another --state"))),
        };
        records.file = Some(path);
        Ok(records)
    }

    /// Names of the networks with records in `folder`, sorted.
    pub fn networks(folder: &Path) -> Vec<String> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names =
            files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The push before the last of a job.
    pub fn before_last(&self, job: JobId) -> Result<&Push, NoEarlierPush> {
        let pushes = || self.jobs.get(&job).into_iter().flat_map(|record| record.pushes.iter().rev());
        pushes().nth(1).ok_or_else(|| NoEarlierPush {
            job: pushes().next().map_or_else(|| job.to_string(), |live| live.plan.job.clone()),
        })
    }

    /// Notes, before anything is written, under which epochs an install is about to leave entries.
    pub(crate) fn begin(&mut self, epochs: &BTreeMap<JobId, Epoch>) -> Result<(), RecordsError> {
        for (job, epoch) in epochs {
            let record = self.jobs.entry(*job).or_default();
            if record.live().is_none_or(|live| live.epoch != *epoch) {
                record.stale.insert(*epoch);
            }
        }
        self.save()
    }

    /// Notes an install that succeeded, in place of the job's last `struck` pushes.
    pub(crate) fn succeed(&mut self, job: JobId, struck: usize, push: Push, stale: BTreeSet<Epoch>) {
        let record = self.jobs.entry(job).or_default();
        record.stale = stale;
        if record.live().is_some_and(|live| live.epoch == push.epoch) {
            return;
        }
        record.pushes.truncate(record.pushes.len().saturating_sub(struck));
        if record.pushes.len() == HISTORY {
            record.pushes.pop_front();
        }
        record.pushes.push_back(push);
        record.claimed.clear();
    }

    /// Notes that a host runs in `role` (such as worker-3) under the job's live epoch; false if one did before, or if
    /// `epoch` is not the live one.
    pub fn claim(&mut self, job: JobId, epoch: Epoch, role: String) -> Result<bool, RecordsError> {
        let Some(record) = self.jobs.get_mut(&job) else { return Ok(false) };
        if record.live().is_none_or(|live| live.epoch != epoch) || !record.claimed.insert(role.clone()) {
            return Ok(false);
        }
        self.save().inspect_err(|_| {
            self.jobs.entry(job).or_default().claimed.remove(&role);
        })?;
        Ok(true)
    }

    /// Writes the records; either all of them or, if the machine stops meanwhile, none.
    pub fn save(&self) -> Result<(), RecordsError> {
        let Some(path) = &self.file else { return Ok(()) };
        let write = || {
            let folder = path.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder)?;
            let fresh = path.with_extension(format!("json.{}", std::process::id()));
            let mut file = std::fs::File::create(&fresh)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_all()?;
            std::fs::rename(&fresh, path)
        };
        write().map_err(|cause: io::Error| RecordsError {
            path: path.clone(),
            reason: format!("cannot be written ({cause}); choose another --state"),
        })
    }
}
