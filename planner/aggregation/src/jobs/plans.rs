//! The plans of several jobs in one document.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::fair::is_proven;
use crate::plan::{PLAN_FORMAT, Plan, PlanFormatError};

/// Order of planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Joint planning: max-min fair rates.
    Together,
    /// Sequential planning: traffic of earlier jobs is background traffic to the later ones.
    InTurn,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::Together => "together",
            Order::InTurn => "in-turn",
        })
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Order::Together, Order::InTurn]
            .into_iter()
            .find(|order| order.to_string() == text)
            .ok_or_else(|| format!("unknown order \"{text}\"; one of together, in-turn"))
    }
}

/// Plans of several jobs that send at the same time, as written to and read from JSON. Each is a complete
/// plan whose rate holds while all jobs send at theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobPlans {
    /// Name of the topology they are for.
    pub topology: String,
    /// Order of planning.
    pub order: Order,
    /// One plan per job; in turn, the first one first.
    pub plans: Vec<Plan>,
    /// The smallest of the plans' rates, bit/s.
    pub min_rate_bps: f64,
    /// Planned together, one rate per plan (bit/s): no plans have rates that are better than these in the
    /// max-min sense. In turn there is no such list: each plan's own bound holds for the capacity left by the
    /// plans before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_min_bound_bps: Option<Vec<f64>>,
    /// Planning time in milliseconds; set by the caller, who owns a clock.
    pub solve_ms: f64,
}

impl JobPlans {
    /// Reads plans from JSON. Names and numbers are only checked by [`crate::check_jobs`].
    ///
    /// # Errors
    ///
    /// Text that is not such a document, and why.
    pub fn from_json(text: &str) -> Result<JobPlans, PlanFormatError> {
        Ok(PLAN_FORMAT.read(text.as_bytes())?)
    }

    /// Writes them as one line of JSON, with their format first.
    pub fn to_json(&self) -> String {
        PLAN_FORMAT.write(self).expect("plans hold only strings and finite numbers")
    }

    /// Returns, together, whether no plans have better rates in the max-min sense; in turn, whether each plan
    /// is the best next to those before it. Up to rounding errors.
    pub fn is_proven_optimal(&self) -> bool {
        match &self.max_min_bound_bps {
            Some(bounds) => self.plans.iter().zip(bounds).all(|(plan, &most)| is_proven(plan.rate_bps, most)),
            None => self.plans.iter().all(Plan::is_proven_optimal),
        }
    }
}
