//! The plan of a job of sites as a document: which trees carry which part of its gradient.

use std::collections::BTreeMap;

use inart_formats::{DocumentError, Format};
use serde::{Deserialize, Serialize};

use crate::chunks;
use inart_topologies::sites::SiteJob;

/// Formats of files with plans of networks of sites. Format 1 has no number.
pub const PLAN_FORMAT: Format = Format {
    kind: "plan of a network of sites",
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
    /// Longest chunk in bytes.
    pub chunk_bytes: u64,
    /// The trees, by root.
    pub trees: Vec<PlanTree>,
    /// Paths between neighbours: none if the plan uses no auxiliary paths.
    pub auxiliary: Vec<AuxiliaryPaths>,
    /// The time of a round on the rates it was made for, in seconds; auxiliary paths are used as by default.
    pub predicted_s: f64,
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

/// One tree of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanTree {
    /// Where sums are complete.
    pub root: String,
    /// The part of the gradient that it carries, from 0 to 1: of its chunks, or for `inart` what the packing
    /// wants, which its chunks follow.
    pub share: f64,
    /// How many chunks that is.
    pub chunks: u64,
    /// w(T), the largest sum of 1/rate from a site up to the root, in seconds per Mbit.
    pub weight_s_per_mbit: f64,
    /// q(T) = 1/w(T), in Mbit/s.
    pub quality_mbps: f64,
    /// Whom each site but the root sends its sums to.
    pub parents: BTreeMap<String, String>,
    /// Whom each site but the root has complete sums from, where that is not its parent for every site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<BTreeMap<String, String>>,
}

/// The paths from one site to a neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuxiliaryPaths {
    /// Where they begin.
    pub from: String,
    /// Where they end.
    pub to: String,
    /// Fastest first, the direct link among them; both ends included.
    pub paths: Vec<Vec<String>>,
}

/// What no plan can beat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// A proven lower bound on the time of a round by any schedule, in seconds.
    pub seconds: f64,
}

/// The sizes of the chunks of a plan for this job, in bytes.
pub fn chunk_sizes(job: &SiteJob, plan: &Plan) -> Vec<u64> {
    chunks::cut(&job.tensors_bytes, plan.chunk_bytes)
}
