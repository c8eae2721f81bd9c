//! Record of one installed plan.

use inart_planner_aggregation::Plan;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};
use serde::{Deserialize, Serialize};

use crate::assignment::JobPlan;

/// Installed plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Plan version.
    pub plan_version: PlanVersion,
    /// Plan.
    pub plan: Plan,
    /// Topology document.
    pub topology: String,
    /// Values per frame of the switches' program.
    pub values: ValuesPerFrame,
    /// Chunks in flight per worker and shard.
    pub window_chunks: u32,
    /// Factor on the plan's rates for the hosts.
    pub rate_scale: f64,
}

impl Push {
    /// Returns whether the push was made on a topology document; other jobs than its own may differ.
    pub fn is_on(&self, topology: &str) -> bool {
        let job = &self.plan.job;
        self.topology == topology || only(&self.topology, job) == only(topology, job)
    }

    /// Returns the plan for another installation.
    pub fn job_plan(&self, job: JobId) -> JobPlan {
        JobPlan {
            job,
            plan: self.plan.clone(),
            window_chunks: self.window_chunks,
            rate_scale: self.rate_scale,
            new_plan_version: false,
        }
    }
}

/// Pushes are equal if hosts and switches cannot distinguish them: planning time does not matter.
impl PartialEq for Push {
    fn eq(&self, other: &Push) -> bool {
        let timeless = |push: &Push| Plan { solve_ms: 0.0, ..push.plan.clone() };
        let rest = |push: &Push| (push.plan_version, push.values, push.window_chunks, push.rate_scale);
        rest(self) == rest(other) && timeless(self) == timeless(other) && self.is_on(&other.topology)
    }
}

/// Returns the document reduced to one job; the text itself if it is not a topology.
fn only(document: &str, job: &str) -> String {
    let of_job = |topology: Topology| {
        topology.with_jobs(topology.job_named(job).cloned().into_iter().collect()).to_yaml()
    };
    Topology::from_yaml(document).map_or_else(|_| document.to_owned(), of_job)
}
