//! Counters of the switches of a network.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_targets::{Running, Session, SwitchCounters, SwitchErrors};
use inart_wire::JobId;

use crate::install::Controller;

/// Observation time after which a job without frames counts as unused. Outside a round workers send a
/// keep-alive every 320 ms at the latest
/// ([`LONGEST_KEEPALIVE_INTERVAL`](inart_protocol_aggregation::LONGEST_KEEPALIVE_INTERVAL)), and every
/// second to a server that does not answer; in a round they retransmit within half a second. So several of
/// these frames may be lost.
pub const LISTEN: Duration = Duration::from_millis(2500);

impl<D: Session> Controller<D> {
    /// Reads the counters of all switches.
    ///
    /// # Errors
    /// The switches that did not answer.
    pub async fn counters(&mut self) -> Result<BTreeMap<String, SwitchCounters>, SwitchErrors> {
        self.on_all(async |_, driver| driver.counters().await).await
    }

    /// Returns the jobs whose gradients, partials, updates or messages arrived at a switch with our program
    /// within `watch`. Running hosts send such frames within [`LISTEN`]; peers with a timeout of more than
    /// 7 s may be silent for longer.
    ///
    /// # Errors
    /// The switches that did not answer.
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

    /// Returns the frames that hit entries of `steer` and `updates`, by job.
    async fn steered(&mut self) -> Result<BTreeMap<JobId, i64>, SwitchErrors> {
        let all = self.on_all(async |_, driver| match driver.running().await? {
            Running::Ours => driver.counters().await.map(Some),
            Running::Nothing | Running::Other => Ok(None),
        });
        let mut sums = BTreeMap::new();
        for counters in all.await?.into_values().flatten() {
            let summed = counters.steer.iter().map(|(key, (_, counts))| (key.job, counts.packets));
            let copied = counters.updates.iter().map(|(key, counts)| (key.job, counts.packets));
            summed.chain(copied).for_each(|(job, packets)| *sums.entry(job).or_default() += packets);
        }
        Ok(sums)
    }
}
