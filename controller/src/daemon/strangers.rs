//! Entries of other jobs on a switch that was away when the plans were installed: of jobs that left the
//! topology, say. The start did not read them, so the reconciler keeps them when the switch answers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use inart_tables::SwitchTables;
use inart_targets::{Running, Session, SwitchError};
use inart_wire::JobId;

/// Entries on a switch of jobs that are not the controller's.
pub(super) enum Strangers {
    /// Not read yet.
    Unread {
        /// The controller's jobs.
        own: BTreeSet<JobId>,
    },
    /// These. Empty for a switch that was there at the start: the plans' tables have all that it holds.
    Known(SwitchTables),
}

impl Strangers {
    /// Reads the switch, unless that was done.
    ///
    /// # Errors
    /// A switch that does not answer, or holds what is not ours.
    pub async fn read(&mut self, session: &mut dyn Session) -> Result<(), SwitchError> {
        let Strangers::Unread { own } = self else { return Ok(()) };
        let mut held = match session.running().await? {
            Running::Ours => session.read().await?,
            Running::Nothing | Running::Other => SwitchTables::default(),
        };
        let shared = SwitchTables::default();
        (held.mac, held.mac_default, held.switch_ports) =
            (shared.mac, shared.mac_default, shared.switch_ports);
        own.iter().for_each(|job| held.retire(*job, |_| true));
        let used = held.used_groups();
        held.groups.retain(|group, _| used.contains(group));
        for job in held.jobs() {
            tracing::warn!(
                job = job.get(),
                "a switch that was away holds this job, which is not this controller's"
            );
        }
        *self = Strangers::Known(held);
        Ok(())
    }

    /// Returns the wanted tables with the entries that are kept beside them.
    ///
    /// # Errors
    /// Slots or groups that both need, in words.
    pub fn beside<'a>(&self, wanted: &'a SwitchTables) -> Result<Cow<'a, SwitchTables>, String> {
        let Strangers::Known(kept) = self else { return Ok(Cow::Borrowed(wanted)) };
        if kept.is_empty() {
            return Ok(Cow::Borrowed(wanted));
        }
        // What was admitted since is the controller's.
        let mut kept = kept.clone();
        wanted.jobs().into_iter().for_each(|job| kept.retire(job, |_| true));
        for (key, slots) in kept.slot_ranges() {
            let overlaps = |base: u32, len: u32| base < slots.base + slots.len && slots.base < base + len;
            if wanted.slot_ranges().any(|(_, mine)| overlaps(mine.base, mine.len)) {
                return Err(taken(key.job, "slots"));
            }
        }
        let mut both = wanted.clone();
        for (group, ports) in &kept.groups {
            if both.groups.insert(*group, ports.clone()).is_some_and(|mine| mine != *ports) {
                let jobs = kept.jobs();
                return Err(jobs.first().map_or_else(String::new, |job| taken(*job, "multicast groups")));
            }
        }
        both.steer.extend(kept.steer);
        both.results.extend(kept.results);
        both.updates.extend(kept.updates);
        both.receivers.extend(kept.receivers);
        Ok(Cow::Owned(both))
    }
}

fn taken(job: JobId, what: &str) -> String {
    format!(
        "it was away at the start and holds job {job}, which this controller does not know, in {what} that the plans \
         need: when that job has ended, stop the controller, run `inart remove {job} TOPOLOGY` and start it again"
    )
}
