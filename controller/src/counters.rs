//! What the switches counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_p4::{Outcome, Reason};
use inart_p4runtime::Counts;
use inart_wire::JobId;

use crate::driver::{DriverError, P4Runtime, Running, SwitchDriver, SwitchErrors};
use crate::entries::{SteerAction, SteerKey};
use crate::install::Controller;

/// The counters of one switch since its program was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SwitchCounters {
    drops: Vec<Counts>,
    outcomes: Vec<Counts>,
    /// Entries of `steer`, what they do, and the frames that hit them: gradients, partials, and, at the port of the worker
    /// itself, its control frames.
    pub steer: BTreeMap<SteerKey, (SteerAction, Counts)>,
}

impl SwitchCounters {
    /// Frames dropped for a reason.
    pub fn drops(&self, reason: Reason) -> Counts {
        self.drops.get(reason.index()).copied().unwrap_or_default()
    }

    /// Gradients and partials that something became of.
    pub fn outcome(&self, outcome: Outcome) -> Counts {
        self.outcomes.get(outcome.index()).copied().unwrap_or_default()
    }

    /// Frames that went into a sum here, of all jobs: each once, repeats not counted.
    pub fn summed(&self) -> i64 {
        [Outcome::Stored, Outcome::Added, Outcome::Completed]
            .map(|outcome| self.outcome(outcome).packets)
            .iter()
            .sum()
    }

    /// Frames of one job that came to be added here, under any epoch that still has its entries; repeats and frames
    /// that were passed on unsummed count too.
    pub fn offered(&self, job: JobId) -> i64 {
        let of_job = self.steer.iter().filter(|(key, _)| key.job == job);
        of_job
            .filter(|(_, (action, _))| matches!(action, SteerAction::Add { .. }))
            .map(|(_, (_, c))| c.packets)
            .sum()
    }
}

impl P4Runtime {
    /// Reads the counters.
    pub async fn counters(&self) -> Result<SwitchCounters, DriverError> {
        let client = self.client();
        let mut counters = SwitchCounters {
            drops: client.read_counter("drops").await?,
            outcomes: client.read_counter("outcomes").await?,
            steer: BTreeMap::new(),
        };
        for entry in client.read_table("steer").await? {
            let (key, action) = crate::driver::steer_of(&entry)?;
            counters.steer.insert(key, (action, entry.counter.unwrap_or_default()));
        }
        Ok(counters)
    }
}

impl Controller<P4Runtime> {
    /// Reads the counters of all switches.
    pub async fn counters(&mut self) -> Result<BTreeMap<String, SwitchCounters>, SwitchErrors> {
        self.on_all(async |_, driver| driver.counters().await).await
    }

    /// Jobs of which a switch that runs our program got gradients or partials within `watch`.
    pub async fn moving(&mut self, watch: Duration) -> Result<BTreeSet<JobId>, SwitchErrors> {
        let before = self.steered().await?;
        tokio::time::sleep(watch).await;
        let after = self.steered().await?;
        Ok(after
            .into_iter()
            .filter(|(job, count)| before.get(job) != Some(count))
            .map(|(job, _)| job)
            .collect())
    }

    /// Frames that hit entries of `steer`, by job.
    async fn steered(&mut self) -> Result<BTreeMap<JobId, i64>, SwitchErrors> {
        let all = self.on_all(async |_, driver| match driver.running().await? {
            Running::Ours => Ok(Some(driver.counters().await?.steer)),
            Running::Nothing | Running::Other => Ok(None),
        });
        let mut sums = BTreeMap::new();
        for (key, (_, counts)) in all.await?.into_values().flatten().flatten() {
            *sums.entry(key.job).or_default() += counts.packets;
        }
        Ok(sums)
    }
}
