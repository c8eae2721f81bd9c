//! Decisions: what, when, why, and with which numbers.

use std::fmt;

use inart_topologies::units::{counted, display_rate};
use serde::{Deserialize, Serialize};

/// Trigger of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Trigger {
    /// Background traffic on a capacity other than the active plan assumed.
    Background {
        /// Resource with the largest difference: `link a->b`, `switch v` or `server s`.
        resource: String,
        /// Background traffic now, bit/s.
        now_bps: f64,
        /// Background traffic that the plan assumed, bit/s.
        planned_bps: f64,
        /// Capacity, bit/s.
        capacity_bps: f64,
    },
    /// Failure.
    Lost {
        /// Failed parts, such as `link a-b`.
        parts: Vec<String>,
    },
    /// Recovery.
    Back {
        /// Recovered parts.
        parts: Vec<String>,
    },
    /// Plans that others activated: hosts of these jobs joined or left, or an operator changed the plans.
    Moved {
        /// Names of the jobs.
        jobs: Vec<String>,
    },
    /// Congestion that a host reports.
    Congestion {
        /// Name of the host.
        host: String,
        /// Jobs of the host.
        jobs: Vec<String>,
        /// Retransmitted part of its frames.
        retransmitted: Option<f64>,
        /// Marked part of the frames that it received.
        marked: Option<f64>,
        /// Queueing delay of its frames, milliseconds.
        queueing_ms: Option<f64>,
        /// Part of its plan's rate at which chunks were summed.
        delivered: Option<f64>,
    },
    /// Schedule of share changes.
    Schedule,
    /// Request of an operator.
    Command,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Background { resource, now_bps, planned_bps, capacity_bps } => write!(
                f,
                "background traffic uses {} of {} on {resource}; the plan assumed {}",
                display_rate(*now_bps),
                display_rate(*capacity_bps),
                display_rate(*planned_bps)
            ),
            Trigger::Lost { parts } => write!(f, "{} failed", parts.join(", ")),
            Trigger::Back { parts } => write!(f, "{} recovered", parts.join(", ")),
            Trigger::Moved { jobs } => {
                write!(f, "job {} has other hosts, or another client changed its plan", jobs.join(", "))
            }
            Trigger::Congestion { host, jobs, retransmitted, marked, queueing_ms, delivered } => {
                write!(f, "congestion at {host} of job {}", jobs.join(", "))?;
                let part = |part: &Option<f64>| part.map(|part| format!("{:.1} %", 100.0 * part));
                let signs = [
                    part(marked).map(|part| format!("{part} of received frames have a congestion mark")),
                    part(retransmitted).map(|part| format!("{part} of sent frames are retransmissions")),
                    queueing_ms.map(|ms| format!("queueing delay {ms:.1} ms")),
                    part(delivered).map(|part| format!("chunks are summed at {part} of the planned rate")),
                ];
                let signs: Vec<String> = signs.into_iter().flatten().collect();
                write!(f, ": {}", signs.join(", "))
            }
            Trigger::Schedule => f.write_str("scheduled share update"),
            Trigger::Command => f.write_str("requested"),
        }
    }
}

/// Rates of one job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobRates {
    /// Name of the job.
    pub job: String,
    /// Rate that the active plan carries on the network now, bit/s; 0 if it uses a failed part.
    pub in_force_bps: f64,
    /// Resource that limits that rate.
    pub limit: String,
    /// Rate of the new plan, bit/s; `None` without one.
    pub new_bps: Option<f64>,
    /// Flows that the new plan moves.
    pub moved: usize,
    /// Trunks from aggregation points to servers that the new plan moves.
    #[serde(default)]
    pub moved_trunks: usize,
    /// What the planner did not optimize, and why, in words; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Result of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// Activation of the new plans.
    Change,
    /// No change.
    Stay {
        /// Reason.
        reason: String,
    },
}

/// Outcome of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// New plans active.
    Done,
    /// Old plans active.
    Failed {
        /// Reason, in words.
        reason: String,
    },
}

/// Decision with the numbers behind it. Displays as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Number of the decision, from 1.
    pub number: u64,
    /// Time of the plan request, seconds since the start.
    pub at_seconds: f64,
    /// Trigger.
    pub trigger: Trigger,
    /// Rates by job, in the order of the active plans.
    pub jobs: Vec<JobRates>,
    /// New rate divided by the active one, of the slowest job that differs; absent without a plan, or where
    /// the active plan carries nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Result.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Milliseconds from the earliest possible observation of the trigger to the request. Of a failure,
    /// that is the last interval in which the part was healthy; else the first interval that shows the
    /// trigger. Absent for requests of operators and scheduled updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noticed_ms: Option<f64>,
    /// Planning time, milliseconds.
    pub planning_ms: f64,
    /// Outcome of the change, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Duration of the change, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_ms: Option<f64>,
}

impl Decision {
    /// Returns whether the decision changes plans.
    pub fn is_change(&self) -> bool {
        self.verdict == Verdict::Change
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decision {} at {:.2} s: {}", self.number, self.at_seconds, self.trigger)?;
        if let Some(ms) = self.noticed_ms {
            write!(f, ", noticed within {ms:.0} ms")?;
        }
        for JobRates { job, in_force_bps, limit, new_bps, moved, moved_trunks, note } in &self.jobs {
            write!(f, "; job {job}: {}", display_rate(*in_force_bps))?;
            if !limit.is_empty() {
                write!(f, " ({limit})")?;
            }
            if let Some(new_bps) = new_bps {
                let moved =
                    format!("{} and {} moved", counted(*moved, "flow"), counted(*moved_trunks, "trunk"));
                write!(f, " -> {}, {moved}", display_rate(*new_bps))?;
            }
            if !note.is_empty() {
                write!(f, " ({note})")?;
            }
        }
        if let Some(gain) = self.gain {
            write!(f, "; gain {gain:.3}")?;
        }
        match &self.verdict {
            Verdict::Change => write!(f, ": change, planned in {:.1} ms", self.planning_ms)?,
            Verdict::Stay { reason } => write!(f, ": not changed: {reason}")?,
        }
        match (&self.outcome, self.change_ms) {
            (Some(Outcome::Done), Some(ms)) => write!(f, ", active after {ms:.1} ms"),
            (Some(Outcome::Done), None) => f.write_str(", active"),
            (Some(Outcome::Failed { reason }), _) => write!(f, ", change failed: {reason}"),
            (None, _) => Ok(()),
        }
    }
}
