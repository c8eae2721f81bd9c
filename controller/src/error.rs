//! Errors of an installation, each in one line with place and fix.

use inart_planner_aggregation::Violation;
use inart_topologies::NetworkError;
use inart_wire::JobId;

use crate::intent::IntentError;
use crate::peers::PeersError;
use crate::plan_error::PlanError;
use crate::ports::PortsError;
use crate::records::{NoEarlierPush, RecordsError};
use inart_targets::{SwitchError, SwitchErrors};

/// Cause of a failure after the first write.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// Failed switches.
    #[error(transparent)]
    Switches(#[from] SwitchErrors),
    /// Entry that is missing after the writes.
    #[error("switch {switch}: read back, it still needs \"{update}\"; does another controller write to it?")]
    Differs {
        /// Name of the switch.
        switch: String,
        /// First missing update, in words.
        update: String,
    },
    /// Records that could not be written.
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

/// Lists the first few changes.
fn since(differs: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = differs.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match differs.len().checked_sub(SHOWN) {
        _ if differs.is_empty() => String::new(),
        None | Some(0) => format!(", since the topology has changed ({shown})"),
        Some(more) => format!(", since the topology has changed ({shown}, and {more} more)"),
    }
}

/// Error of an installation.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Topology that is too large, or switch names that differ from the topology's.
    #[error(transparent)]
    Ports(#[from] PortsError),
    /// Plan for a job that the topology does not have.
    #[error(
        "the plan is for job {job}, which topology {topology} does not have: make a plan for this topology"
    )]
    NoJob {
        /// Name of the job.
        job: String,
        /// Name of the topology.
        topology: String,
    },
    /// Plan that violates constraints of the topology.
    #[error(
        "the plan of job {job} does not hold on this topology: {}{}; `inart plan` makes one that does",
        violations[0], and_more(violations.len())
    )]
    Check {
        /// Name of the job.
        job: String,
        /// Violations; at least one.
        violations: Vec<Violation>,
    },
    /// Plan that cannot be converted to tables.
    #[error("the plan of job {job} cannot be installed: {reason}")]
    Plan {
        /// Name of the job.
        job: String,
        /// Cause.
        reason: Box<PlanError>,
    },
    /// Recorded plan that does not hold on the topology of today.
    #[error("the previous plan of job {job} cannot be installed again{}: {reason}", since(differs))]
    Outdated {
        /// Name of the job.
        job: String,
        /// Changes on its paths since that push.
        differs: Vec<String>,
        /// Cause.
        reason: Box<InstallError>,
    },
    /// Network of peers that cannot be converted to tables, or not on these switches.
    #[error(transparent)]
    Peers(#[from] PeersError),
    /// Unreadable network of peers in the records.
    #[error("the network of peers in the records cannot be read ({0}): apply it again")]
    PeersRecord(NetworkError),
    /// Two plans with one job number.
    #[error("two plans for job number {job}: install one plan per job")]
    JobTwice {
        /// Number of the job.
        job: JobId,
    },
    /// Plans that do not fit the switches.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// Switch with another program.
    #[error(
        "switch {switch} runs another program, or ours for another number of values; replacing it clears its tables and \
         stops the jobs on it: allow the replacement to do so"
    )]
    OtherProgram {
        /// Name of the switch.
        switch: String,
    },
    /// Records that could not be read or written; the switches are unchanged.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Missing earlier plan for a rollback.
    #[error(transparent)]
    NoEarlierPush(#[from] NoEarlierPush),
    /// Switches that could not be read; nothing was changed.
    #[error(transparent)]
    Switches(#[from] SwitchErrors),
    /// Failed write that was undone.
    #[error("{cause}; undone: the previous plan is active")]
    Undone {
        /// Cause.
        cause: Cause,
    },
    /// Failed write that could not be undone.
    #[error(
        "{cause}; undoing failed too: {undo}; the previous plan is active, and the next installation removes \
         remains of the new one"
    )]
    NotUndone {
        /// Cause.
        cause: Cause,
        /// Failure of the undo.
        undo: SwitchErrors,
    },
    /// Failed write after the replacement of another program.
    #[error("{cause}; the program of {} was replaced already and no plan is installed there: apply the plan again", switches.join(", "))]
    Replaced {
        /// Cause.
        cause: Cause,
        /// Switches that ran another program.
        switches: Vec<String>,
    },
}

impl InstallError {
    /// Returns the unreachable switches, each with its error, if nothing else failed: a later attempt may
    /// succeed, with or without them.
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

    /// Adds the switches on which an earlier attempt of the installation could not be undone.
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

    /// Returns the switches on which the writes could not be undone.
    pub(crate) fn not_undone(&self) -> &[(String, SwitchError)] {
        match self {
            InstallError::NotUndone { undo, .. } => &undo.0,
            _ => &[],
        }
    }

    /// Returns whether another process changed the records of a job meanwhile: a retry may succeed.
    pub fn is_race(&self) -> bool {
        let error = match (self, self.cause()) {
            (InstallError::Records(error), _) | (_, Some(Cause::Records(error))) => error,
            _ => return false,
        };
        matches!(error, RecordsError::Raced { .. })
    }

    /// Returns the cause of a failure after the first write.
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
