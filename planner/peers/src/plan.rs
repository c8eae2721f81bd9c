//! The plan of a job of peers as a document: who sends its update to whom.

use inart_formats::{DocumentError, Format};
use serde::{Deserialize, Serialize};

/// Formats of files with plans of networks of peers. Format 1 has no number.
pub const PLAN_FORMAT: Format = Format {
    kind: "plan of a network of peers",
    oldest: 1,
    newest: 2,
    fix: "make the plan again with inart plan",
};

/// A plan as a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The scheme that made it.
    pub scheme: String,
    /// The network's name.
    pub topology: String,
    /// The job's name.
    pub job: String,
    /// Who makes the copies: `switch` or `hosts`.
    pub multicast: String,
    /// The rule of k that it was made by, if by one: whoever was not in a sender's last so many rounds
    /// receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_after: Option<u32>,
    /// Each peer's multicast, in the job's order.
    pub tasks: Vec<PlanTask>,
    /// The time until the fullest port is done, in seconds; with equal updates that of a round.
    pub seconds: f64,
    /// Mean number of receivers of an update.
    pub receivers_mean: f64,
    /// What no plan can beat.
    pub bounds: Bounds,
}

impl Plan {
    /// Reads a plan from JSON. Names and numbers are only checked by [`check`](crate::check()).
    ///
    /// # Errors
    /// A format that this version does not read, or contents that are not those of a plan.
    pub fn from_json(text: &str) -> Result<Plan, DocumentError> {
        PLAN_FORMAT.read(text.as_bytes())
    }

    /// Writes the plan as one line of JSON, with its format first.
    ///
    /// # Panics
    /// Never: a plan holds only texts and numbers.
    pub fn to_json(&self) -> String {
        PLAN_FORMAT.write(self).expect("a plan holds only texts and numbers")
    }
}

/// One peer's multicast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanTask {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: Vec<String>,
}

/// What no plan can beat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// A proven lower bound on the time of a round by any plan, in seconds.
    pub seconds: f64,
}
