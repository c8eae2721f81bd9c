//! What a job of a network of switches says of training, beyond what planners read.

use std::collections::BTreeMap;

use crate::document::{At, JobEntry, TimeEntry};

/// How long a participant computes, as far as the document says.
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
            speed: entry.speed.map(|speed| speed.value),
        }
    }
}

/// What a job says of training, with the entry itself, which is written back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Training {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) is_of_clients: bool,
    pub(super) compute: Option<Compute>,
    pub(super) computes: BTreeMap<String, Compute>,
    pub(super) batch: Option<i64>,
    pub(super) batches: BTreeMap<String, i64>,
    pub(super) pause: Option<Compute>,
    entry: JobEntry,
}

impl Training {
    /// What a job's entry says.
    pub(crate) fn of(entry: &At<JobEntry>) -> Self {
        let (line, entry) = (entry.line, &entry.value);
        let times = |of: &Option<At<TimeEntry>>| of.as_ref().map(|time| Compute::of(&time.value));
        let computes = entry.computes.iter().flat_map(|computes| &computes.value);
        Training {
            line,
            name: entry.name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
            is_of_clients: entry.clients.is_some(),
            compute: times(&entry.compute),
            computes: computes.map(|(name, time)| (name.clone(), Compute::of(time))).collect(),
            batch: entry.batch.map(|batch| batch.value),
            batches: entry.batches.as_ref().map(|batches| batches.value.clone()).unwrap_or_default(),
            pause: times(&entry.pause),
            entry: entry.clone(),
        }
    }

    /// Whether the job says how long its participants compute.
    pub(crate) fn says_how_long(&self) -> bool {
        self.compute.is_some() || !self.computes.is_empty()
    }

    /// Adds what the job says of training to an entry without it.
    pub(crate) fn add_to(&self, entry: &mut JobEntry) {
        let JobEntry { clients, compute, computes, batch, batches, pause, .. } = self.entry.clone();
        if self.is_of_clients {
            entry.clients = clients.and(entry.workers.take());
        }
        (entry.compute, entry.computes) = (compute, computes);
        (entry.batch, entry.batches, entry.pause) = (batch, batches, pause);
    }
}
