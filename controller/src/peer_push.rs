//! Updates between peers: their entries on switches that copy nothing else. Written beside what is there,
//! read back; twice changes nothing.

use std::collections::BTreeMap;

use inart_tables::{SwitchTables, diff};
use inart_targets::{Running, Session, SwitchError, SwitchErrors};

/// What a push did to one switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerChange {
    /// What the switch ran before.
    pub running: Running,
    /// Entries and groups that were written or removed.
    pub updates: usize,
    /// Those that were right already.
    pub unchanged: usize,
}

/// Why entries for updates were not pushed.
#[derive(Debug, thiserror::Error)]
pub enum PeerPushError {
    /// A switch runs another program.
    #[error(
        "switch {switch} runs another program, or ours for another number of values; replacing it clears its \
         tables and stops the jobs on it: add --replace-program to do so"
    )]
    OtherProgram {
        /// The switch.
        switch: String,
    },
    /// A switch sums for jobs with servers, whose entries this would remove.
    #[error(
        "switch {switch} sums gradients for {jobs} jobs, and what all jobs share is theirs: remove these first \
         (`inart remove`)"
    )]
    OtherJobs {
        /// The switch.
        switch: String,
        /// How many jobs it has entries of.
        jobs: usize,
    },
    /// Switches failed.
    #[error(transparent)]
    Switches(#[from] SwitchErrors),
    /// A switch took the entries but does not hold them.
    #[error("switch {switch}: read back, {lacking} entries differ; does another controller write to it?")]
    Differs {
        /// The switch.
        switch: String,
        /// How many.
        lacking: usize,
    },
}

/// Makes each switch hold `wanted` ([`network`](crate::multicast::network)), by name. Nothing is written
/// unless all can be.
///
/// # Errors
/// A switch that runs another program, unless that may be replaced; one that sums for others; one that does
/// not answer, or does not hold what was written.
pub async fn push_peers<S: Session>(
    switches: &mut BTreeMap<String, S>,
    wanted: &BTreeMap<String, SwitchTables>,
    may_replace: bool,
) -> Result<BTreeMap<String, PeerChange>, PeerPushError> {
    let mut found = BTreeMap::new();
    for (switch, session) in &mut *switches {
        let failed = |error| SwitchErrors(vec![(switch.clone(), error)]);
        let running = session.running().await.map_err(failed)?;
        let held = match running {
            Running::Ours => session.read().await.map_err(failed)?,
            Running::Other if !may_replace => {
                return Err(PeerPushError::OtherProgram { switch: switch.clone() });
            }
            Running::Nothing | Running::Other => SwitchTables::default(),
        };
        if !held.steer.is_empty() || !held.results.is_empty() {
            return Err(PeerPushError::OtherJobs { switch: switch.clone(), jobs: held.jobs().len() });
        }
        found.insert(switch.clone(), running);
    }
    let mut changes = BTreeMap::new();
    for (switch, session) in switches {
        let (running, wanted) = (found[switch], wanted.get(switch).cloned().unwrap_or_default());
        let written = write(session, running, &wanted).await;
        let (updates, lacking) = written.map_err(|error| SwitchErrors(vec![(switch.clone(), error)]))?;
        if lacking > 0 {
            return Err(PeerPushError::Differs { switch: switch.clone(), lacking });
        }
        let unchanged = wanted.len().saturating_sub(updates);
        changes.insert(switch.clone(), PeerChange { running, updates, unchanged });
    }
    Ok(changes)
}

/// How much was written, and how much of it is not there.
async fn write(
    session: &mut impl Session,
    running: Running,
    wanted: &SwitchTables,
) -> Result<(usize, usize), SwitchError> {
    if running != Running::Ours {
        session.load_program().await?;
    }
    let updates = diff(&session.read().await?, wanted);
    session.write(&updates).await?;
    Ok((updates.len(), diff(&session.read().await?, wanted).len()))
}
