//! What was decided, when, why, and with which numbers.

use std::fmt;

use inart_topologies::units::{counted, display_rate};
use serde::{Deserialize, Serialize};

/// What made it a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Trigger {
    /// Others use more or less of a capacity than the plan in force was made for.
    Background {
        /// `link a->b`, `switch v` or `server s`: the one that differs most.
        resource: String,
        /// What they use of it now, bit/s.
        now_bps: f64,
        /// What the plan was made for, bit/s.
        planned_bps: f64,
        /// What there is, bit/s.
        capacity_bps: f64,
    },
    /// Something failed.
    Lost {
        /// What, such as `link a-b`.
        parts: Vec<String>,
    },
    /// What had failed is in order again.
    Back {
        /// What.
        parts: Vec<String>,
    },
    /// Somebody else put other plans in force: hosts of these jobs came or went, or they were moved by hand.
    Moved {
        /// Their names.
        jobs: Vec<String>,
    },
    /// A host tells of congestion.
    Congestion {
        /// The host.
        host: String,
        /// Its jobs.
        jobs: Vec<String>,
        /// The part of its frames that it sent again.
        retransmitted: Option<f64>,
        /// The part of the frames it got that were marked.
        marked: Option<f64>,
        /// How long frames waited on the way, milliseconds.
        queueing_ms: Option<f64>,
        /// The part of its plan's rate at which chunks were summed.
        delivered: Option<f64>,
    },
    /// It is time for new shares.
    Schedule,
    /// Somebody asked.
    Command,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Background { resource, now_bps, planned_bps, capacity_bps } => write!(
                f,
                "others use {} of {} on {resource}, the plan was made for {}",
                display_rate(*now_bps),
                display_rate(*capacity_bps),
                display_rate(*planned_bps)
            ),
            Trigger::Lost { parts } => write!(f, "{} failed", parts.join(", ")),
            Trigger::Back { parts } => write!(f, "{} in order again", parts.join(", ")),
            Trigger::Moved { jobs } => {
                write!(f, "job {} has other hosts, or another client changed its plan", jobs.join(", "))
            }
            Trigger::Congestion { host, jobs, retransmitted, marked, queueing_ms, delivered } => {
                write!(f, "congestion at {host} of job {}", jobs.join(", "))?;
                let part = |part: &Option<f64>| part.map(|part| format!("{:.1} %", 100.0 * part));
                let signs = [
                    part(marked).map(|part| format!("{part} of its frames come marked")),
                    part(retransmitted).map(|part| format!("{part} are sent again")),
                    queueing_ms.map(|ms| format!("they wait {ms:.1} ms")),
                    part(delivered).map(|part| format!("chunks are summed at {part} of the plan's rate")),
                ];
                let signs: Vec<String> = signs.into_iter().flatten().collect();
                write!(f, ": {}", signs.join(", "))
            }
            Trigger::Schedule => f.write_str("time for new shares"),
            Trigger::Command => f.write_str("asked for"),
        }
    }
}

/// The numbers of one job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobRates {
    /// The job.
    pub job: String,
    /// What the plan in force carries on the network as it is, bit/s; 0 if it leads over what failed.
    pub in_force_bps: f64,
    /// What limits it there.
    pub limit: String,
    /// The rate of the new plan, bit/s; `None` if there is none.
    pub new_bps: Option<f64>,
    /// Flows that the new plan moves.
    pub moved: usize,
    /// Trunks from aggregation points to servers that it moves.
    #[serde(default)]
    pub moved_trunks: usize,
    /// What was not looked for, and why, in words; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// The new plans are put in force.
    Change,
    /// Those in force stay.
    Stay {
        /// Why.
        reason: String,
    },
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// The new plans are in force.
    Done,
    /// Those before are: why.
    Failed {
        /// In words.
        reason: String,
    },
}

/// A decision with the numbers that made it. Displays as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Its number, from 1.
    pub number: u64,
    /// When the question was asked, seconds since the start.
    pub at_seconds: f64,
    /// What made it a question.
    pub trigger: Trigger,
    /// By job, in the order of the plans in force.
    pub jobs: Vec<JobRates>,
    /// The new rate over the one in force, of the slowest job that differs; absent without a plan, or where
    /// the plan in force carries nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// What was decided.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// From the moment since which it may have been seen to the question, milliseconds: of a failure, the
    /// last interval in which the part was in order; else the first that shows what was asked about. Absent
    /// where somebody asked, or it was time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noticed_ms: Option<f64>,
    /// How long the planner was at it, milliseconds.
    pub planning_ms: f64,
    /// What became of the change, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How long the change took, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_ms: Option<f64>,
}

impl Decision {
    /// Whether the plans in force are to change.
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
            (Some(Outcome::Failed { reason }), _) => write!(f, ", came to nothing: {reason}"),
            (None, _) => Ok(()),
        }
    }
}
