//! What can go wrong in an install, in one line that names the place and the fix.

use inart_planner_aggregation::Violation;
use inart_topologies::NetworkError;
use inart_wire::JobId;

use crate::intent::IntentError;
use crate::peers::PeersError;
use crate::plan_error::PlanError;
use crate::ports::PortsError;
use crate::records::{NoEarlierPush, RecordsError};
use inart_targets::{SwitchError, SwitchErrors};

/// Why an install stopped after it had begun to write.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// Switches failed.
    #[error(transparent)]
    Switches(#[from] SwitchErrors),
    /// A switch took the updates but does not hold them.
    #[error("switch {switch}: read back, it still needs \"{update}\"; does another controller write to it?")]
    Differs {
        /// The switch.
        switch: String,
        /// The first update that is missing, in words.
        update: String,
    },
    /// The records could not be written.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

fn and_more(violations: usize) -> String {
    if violations > 1 {
        format!(" (and {} more; a check of the plan lists them)", violations - 1)
    } else {
        String::new()
    }
}

/// The first few of what has changed.
fn since(differs: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = differs.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match differs.len().checked_sub(SHOWN) {
        _ if differs.is_empty() => String::new(),
        None | Some(0) => format!(", since the topology has changed ({shown})"),
        Some(more) => format!(", since the topology has changed ({shown}, and {more} more)"),
    }
}

/// Why an install failed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The topology is too large, or other switches were named than it has.
    #[error(transparent)]
    Ports(#[from] PortsError),
    /// A plan for a job that the topology does not have.
    #[error(
        "the plan is for job {job}, which topology {topology} does not have: plan again for this topology"
    )]
    NoJob {
        /// The job.
        job: String,
        /// The topology.
        topology: String,
    },
    /// The checker refused the plan.
    #[error(
        "the plan of job {job} does not hold on this topology: {}{}; `inart plan` makes one that does",
        violations[0], and_more(violations.len())
    )]
    Check {
        /// The job.
        job: String,
        /// What it violates; at least one thing.
        violations: Vec<Violation>,
    },
    /// The plan cannot be put into tables.
    #[error("the plan of job {job} cannot be installed: {reason}")]
    Plan {
        /// The job.
        job: String,
        /// Why.
        reason: Box<PlanError>,
    },
    /// A recorded plan does not hold on the topology of today.
    #[error("the plan before of job {job} cannot be installed again{}: {reason}", since(differs))]
    Outdated {
        /// The job.
        job: String,
        /// What has changed on its paths since that push.
        differs: Vec<String>,
        /// Why it does not hold.
        reason: Box<InstallError>,
    },
    /// A network of peers cannot be put into tables, or not on these switches.
    #[error(transparent)]
    Peers(#[from] PeersError),
    /// The records have a network of peers that cannot be read.
    #[error("the network of peers in the records cannot be read ({0}): push it again")]
    PeersRecord(NetworkError),
    /// The same job number twice.
    #[error("two plans for job number {job}: install one plan per job")]
    JobTwice {
        /// The number.
        job: JobId,
    },
    /// The plans do not fit the switches.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// A switch runs another program.
    #[error(
        "switch {switch} runs another program, or ours for another number of values; replacing it clears its tables and \
         stops the jobs on it: allow the replacement to do so"
    )]
    OtherProgram {
        /// The switch.
        switch: String,
    },
    /// The records could not be read or written; nothing was changed on the switches.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Nothing to roll back to.
    #[error(transparent)]
    NoEarlierPush(#[from] NoEarlierPush),
    /// A switch could not be read; nothing was changed.
    #[error(transparent)]
    Switches(#[from] SwitchErrors),
    /// Writing failed and was undone.
    #[error("{cause}; undone: the previous plan is active")]
    Undone {
        /// What failed.
        cause: Cause,
    },
    /// Writing failed, and so did undoing it.
    #[error(
        "{cause}; undoing failed too: {undo}; the previous plan is active, and the next push removes \
         remains of the new one"
    )]
    NotUndone {
        /// What failed first.
        cause: Cause,
        /// What failed then.
        undo: SwitchErrors,
    },
    /// Writing failed after another program had been replaced.
    #[error("{cause}; the program of {} was replaced already and no plan is installed there: push again", switches.join(", "))]
    Replaced {
        /// What failed.
        cause: Cause,
        /// Switches that ran another program.
        switches: Vec<String>,
    },
}

impl InstallError {
    /// Returns the switches that were out of reach, each with its words, if nothing else was wrong: the same
    /// install may well succeed later, or without them.
    pub fn unreachable(&self) -> Option<Vec<(String, String)>> {
        let errors = match (self, self.cause()) {
            (InstallError::Switches(errors), _) | (_, Some(Cause::Switches(errors))) => errors,
            _ => return None,
        };
        let lost = errors.0.iter().map(|(switch, error)| match error {
            SwitchError::Unreachable(why) => Some((switch.clone(), why.clone())),
            _ => None,
        });
        lost.collect()
    }

    /// Returns the first switch that reported that another controller writes to it, and the report: to a
    /// read, to a write, or when the writes were undone.
    pub fn superseded(&self) -> Option<(&str, &SwitchError)> {
        let read = match self {
            InstallError::Switches(errors) => Some(errors),
            _ => None,
        };
        let written = match self.cause() {
            Some(Cause::Switches(errors)) => Some(errors),
            _ => None,
        };
        let errors = [read, written].into_iter().flatten().flat_map(|errors| &errors.0);
        let errors = errors.chain(self.not_undone());
        let mut superseded = errors.filter(|(_, error)| matches!(error, SwitchError::Superseded(_)));
        superseded.next().map(|(switch, error)| (switch.as_str(), error))
    }

    /// The same with the switches on which an earlier attempt of the same install could not be undone.
    pub(crate) fn with_remains(self, mut remains: Vec<(String, SwitchError)>) -> Self {
        match self {
            InstallError::Undone { cause } if !remains.is_empty() => {
                InstallError::NotUndone { cause, undo: SwitchErrors(remains) }
            }
            InstallError::NotUndone { cause, mut undo } => {
                remains.retain(|(switch, _)| undo.0.iter().all(|(other, _)| other != switch));
                undo.0.extend(remains);
                InstallError::NotUndone { cause, undo }
            }
            other => other,
        }
    }

    /// Switches on which what was written could not be undone.
    pub(crate) fn not_undone(&self) -> &[(String, SwitchError)] {
        match self {
            InstallError::NotUndone { undo, .. } => &undo.0,
            _ => &[],
        }
    }

    /// Whether another process changed the records of a job meanwhile: the same install may well succeed now.
    pub fn is_race(&self) -> bool {
        let error = match (self, self.cause()) {
            (InstallError::Records(error), _) | (_, Some(Cause::Records(error))) => error,
            _ => return false,
        };
        matches!(error, RecordsError::Raced { .. })
    }

    /// Why an install stopped that had begun to write.
    fn cause(&self) -> Option<&Cause> {
        match self {
            InstallError::Undone { cause }
            | InstallError::NotUndone { cause, .. }
            | InstallError::Replaced { cause, .. } => Some(cause),
            _ => None,
        }
    }

    pub(crate) fn plan(job: &str, reason: PlanError) -> Self {
        InstallError::Plan { job: job.to_owned(), reason: Box::new(reason) }
    }
}
