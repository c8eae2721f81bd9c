//! Training settings of a job of a switched network, beyond those that planners read.

use std::collections::BTreeMap;

use crate::document::{At, JobEntry, TimeEntry};

/// Compute time of a participant, as far as the document states it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Compute {
    /// In seconds.
    pub mean: Option<f64>,
    /// Coefficient of variation.
    pub cv: Option<f64>,
    /// Samples per second.
    pub speed: Option<f64>,
}

impl Compute {
    fn of(entry: &TimeEntry) -> Self {
        Compute {
            mean: entry.mean.map(|mean| mean.value.0),
            cv: entry.cv.map(|cv| cv.value),
            speed: entry.samples_per_second.map(|speed| speed.value),
        }
    }
}

/// Training settings of a job, with the entry itself, which is written back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Training {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) is_of_clients: bool,
    pub(super) compute: Option<Compute>,
    pub(super) computes: BTreeMap<String, Compute>,
    pub(super) batch: Option<i64>,
    pub(super) batches: BTreeMap<String, i64>,
    pub(super) upload_delay: Option<Compute>,
    entry: JobEntry,
}

impl Training {
    /// Reads the settings of a job's entry.
    pub(crate) fn of(entry: &At<JobEntry>) -> Self {
        let (line, entry) = (entry.line, &entry.value);
        let compute = entry.compute.as_ref().map(|compute| &compute.value);
        let batch = entry.batch.as_ref().map(|batch| &batch.value);
        let own = compute.into_iter().flat_map(|compute| &compute.overrides);
        Training {
            line,
            name: entry.name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
            is_of_clients: entry.clients.is_some(),
            compute: compute.and_then(|compute| compute.default.as_ref()).map(Compute::of),
            computes: own.map(|(name, time)| (name.clone(), Compute::of(time))).collect(),
            batch: batch.and_then(|batch| batch.default),
            batches: batch.map(|batch| batch.overrides.clone()).unwrap_or_default(),
            upload_delay: entry.upload_delay.as_ref().map(|delay| Compute::of(&delay.value)),
            entry: entry.clone(),
        }
    }

    /// Returns whether the job states its participants' compute time.
    pub(crate) fn says_how_long(&self) -> bool {
        self.compute.is_some() || !self.computes.is_empty()
    }

    /// Adds the job's training settings to an entry without them.
    pub(crate) fn add_to(&self, entry: &mut JobEntry) {
        let JobEntry { clients, compute, batch, upload_delay, .. } = self.entry.clone();
        if self.is_of_clients {
            entry.clients = clients.and(entry.workers.take());
        }
        (entry.compute, entry.batch, entry.upload_delay) = (compute, batch, upload_delay);
    }
}
