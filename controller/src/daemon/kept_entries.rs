//! Entries that stay on a switch that was missing when the plans were installed: of other jobs, and of the
//! controller's jobs under plan versions that hosts may still use. The start did not read them, so the
//! reconciler keeps them when the switch answers, and puts the plans' entries next to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use inart_tables::SwitchTables;
use inart_targets::{Running, Session, SwitchError};
use inart_wire::{JobId, PlanVersion};

use crate::merge::merged;

/// Entries on a switch outside of the active plans.
pub(super) enum KeptEntries {
    /// Entries that were not read yet.
    Unread {
        /// Jobs of the controller, each with the plan versions that it manages: the active one, and those
        /// that no host uses.
        own: BTreeMap<JobId, BTreeSet<PlanVersion>>,
    },
    /// Entries that were read when the switch answered.
    Known {
        /// Kept entries.
        kept: Box<SwitchTables>,
        /// Jobs of the controller.
        own: BTreeSet<JobId>,
        /// Last known tables of the switch.
        last: Box<SwitchTables>,
    },
    /// Nothing to keep: the switch answered at the start, and the plans' tables include its entries.
    Included,
}

impl KeptEntries {
    /// Reads the switch, once.
    ///
    /// # Errors
    /// If the switch does not answer, or holds entries that are not ours.
    pub async fn read(&mut self, session: &mut dyn Session) -> Result<(), SwitchError> {
        let KeptEntries::Unread { own } = self else { return Ok(()) };
        let last = match session.running().await? {
            Running::Ours => session.read().await?,
            Running::Nothing | Running::Other => SwitchTables::default(),
        };
        let (mut kept, shared) = (last.clone(), SwitchTables::default());
        (kept.mac, kept.mac_default, kept.switch_ports) =
            (shared.mac, shared.mac_default, shared.switch_ports);
        own.iter().for_each(|(job, plan_versions)| {
            kept.retire(*job, |plan_version| plan_versions.contains(&plan_version))
        });
        let used = kept.used_groups();
        kept.groups.retain(|group, _| used.contains(group));
        for job in kept.jobs() {
            let plan_versions: Vec<_> = kept.plan_versions(job).into_iter().map(PlanVersion::get).collect();
            tracing::warn!(
                job = job.get(),
                ?plan_versions,
                "kept entries that hosts may use on a switch that reconnected"
            );
        }
        let own = own.keys().copied().collect();
        *self = KeptEntries::Known { kept: Box::new(kept), own, last: Box::new(last) };
        Ok(())
    }

    /// Returns the wanted tables merged with the kept entries, for a switch with `slots` slots. Of the
    /// controller's jobs, the ones that `runs` knows are kept.
    ///
    /// # Errors
    /// If slots or groups do not suffice for both, in words.
    pub fn merged<'a>(
        &mut self,
        wanted: &'a SwitchTables,
        slots: u32,
        runs: impl Fn(JobId) -> bool,
    ) -> Result<Cow<'a, SwitchTables>, String> {
        let KeptEntries::Known { kept, own, last } = self else { return Ok(Cow::Borrowed(wanted)) };
        for job in kept.jobs() {
            // Jobs admitted since are the controller's, and so are plan versions that it has started.
            let is_admitted = !own.contains(&job) && wanted.jobs().contains(&job);
            let is_gone = own.contains(&job) && !runs(job);
            let wanted = wanted.plan_versions(job);
            kept.retire(job, |plan_version| is_admitted || is_gone || wanted.contains(&plan_version));
        }
        let both = merged(kept, wanted, last, slots).map_err(|reason| {
            let job = kept.jobs().first().map_or_else(String::new, JobId::to_string);
            format!(
                "it was disconnected at the start and holds job {job}, whose hosts may run: with that job \
                 the plan {reason}; \
                 when job {job} has ended, stop the controller, run `inart remove {job} TOPOLOGY` and start it again"
            )
        })?;
        **last = both.clone();
        Ok(Cow::Owned(both))
    }
}
