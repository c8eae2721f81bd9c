//! Plan document of a job of sites: trees and their parts of the gradient.

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

/// Plan document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Scheme of the plan.
    pub scheme: String,
    /// Name of the network.
    pub topology: String,
    /// Name of the job.
    pub job: String,
    /// Longest chunk in bytes.
    pub chunk_bytes: u64,
    /// Trees, by root.
    pub trees: Vec<PlanTree>,
    /// Paths between neighbors; empty if the plan uses no auxiliary paths.
    pub auxiliary: Vec<AuxiliaryPaths>,
    /// Predicted time of a round on the rates of the plan, in seconds, with the default use of auxiliary
    /// paths.
    pub predicted_s: f64,
    /// Lower bounds on any plan.
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
    /// Root, at which sums are complete.
    pub root: String,
    /// Fraction of the gradient that the tree carries, from 0 to 1: of its chunks, or for `inart` the
    /// fraction in the packing, which its chunks follow.
    pub share: f64,
    /// Number of chunks of the tree.
    pub chunks: u64,
    /// w(T), the largest sum of 1/rate from a site up to the root, in seconds per Mbit.
    pub weight_s_per_mbit: f64,
    /// q(T) = 1/w(T), in Mbit/s.
    pub quality_mbps: f64,
    /// Site that each site except the root sends its sums to.
    pub parents: BTreeMap<String, String>,
    /// Site that each site except the root receives complete sums from; omitted if this is the parent of
    /// every site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<BTreeMap<String, String>>,
}

/// Paths from one site to a neighbor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuxiliaryPaths {
    /// Start of the paths.
    pub from: String,
    /// End of the paths.
    pub to: String,
    /// Paths, fastest first, including the direct link and both ends.
    pub paths: Vec<Vec<String>>,
}

/// Lower bounds on any plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Proven lower bound on the time of a round by any schedule, in seconds.
    pub seconds: f64,
}

/// Returns the sizes of the chunks of a plan for this job, in bytes.
pub fn chunk_sizes(job: &SiteJob, plan: &Plan) -> Vec<u64> {
    chunks::cut(&job.tensors_bytes, plan.chunk_bytes)
}
