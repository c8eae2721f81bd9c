//! The plan of a job of peers as a document: the receivers of each update.

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
    /// Scheme of the plan.
    pub scheme: String,
    /// Name of the topology.
    pub topology: String,
    /// Name of the job.
    pub job: String,
    /// Maker of the copies: `switch` or `hosts`.
    pub multicast: String,
    /// Fairness bound k of the plan, if any: a peer outside a sender's last k rounds is a receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_after: Option<u32>,
    /// Each peer's multicast, in the job's order.
    pub tasks: Vec<PlanTask>,
    /// Time until the fullest port is done, in seconds; with equal updates, of a round.
    pub seconds: f64,
    /// Mean number of receivers of an update.
    pub receivers_mean: f64,
    /// Lower bounds.
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
    /// Sender.
    pub from: String,
    /// Receivers.
    pub to: Vec<String>,
}

/// Lower bounds of any plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Proven lower bound on the time of a round by any plan, in seconds.
    pub seconds: f64,
}
