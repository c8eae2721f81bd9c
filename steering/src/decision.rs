//! What was decided, when, why, and with which numbers.

use std::fmt;

use inart_planner::units::display_rate;
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
        for JobRates { job, in_force_bps, limit, new_bps, moved } in &self.jobs {
            write!(f, "; job {job}: {}", display_rate(*in_force_bps))?;
            if !limit.is_empty() {
                write!(f, " ({limit})")?;
            }
            if let Some(new_bps) = new_bps {
                write!(f, " -> {}, {moved} flows moved", display_rate(*new_bps))?;
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
            (Some(Outcome::Done), Some(ms)) => write!(f, ", in force after {ms:.1} ms"),
            (Some(Outcome::Done), None) => f.write_str(", in force"),
            (Some(Outcome::Failed { reason }), _) => write!(f, ", came to nothing: {reason}"),
            (None, _) => Ok(()),
        }
    }
}
