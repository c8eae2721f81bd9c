//! Plans of networks of two levels: switches inside sites, trees between them.

use inart_planner_aggregation as inside;
use inart_topologies::NetworkError;
use inart_topologies::sites::{Hierarchy, Inside, SiteJob};
use serde::Serialize;

use crate::plan::{PLAN_FORMAT, Plan};
use crate::plan_error::PlanError;
use crate::planning::plan;
use crate::schemes::Options;

/// Error of planning a network of two levels.
#[derive(Debug, thiserror::Error)]
pub enum HierarchyError {
    /// A job inside a site with another gradient than the job between sites.
    #[error(transparent)]
    Document(#[from] NetworkError),
    /// Inside of a site without a plan.
    #[error("inside site {site}: {error}")]
    InsidePlan {
        /// The site.
        site: String,
        /// Error of the inside's planner.
        error: inside::PlanError,
    },
    /// Failure to plan between sites.
    #[error("between sites: {0}")]
    Between(#[from] PlanError),
}

/// Plan of a site's inside.
#[derive(Debug, Clone, Serialize)]
pub struct InsidePlan {
    /// The site.
    pub site: String,
    /// Aggregating switches, and the rate.
    pub plan: inside::Plan,
    /// Time from the workers' gradients to the site, plus the time of the sums back, in seconds.
    pub seconds: f64,
    /// Lower bound on the time of any plan of the inside, in seconds.
    pub bound_s: f64,
}

/// Plans of both levels.
#[derive(Debug, Clone, Serialize)]
pub struct HierarchyPlan {
    /// Plans of the insides.
    pub insides: Vec<InsidePlan>,
    /// Trees between sites.
    pub between: Plan,
    /// Lower bound on the time of any schedule of both levels, in seconds: the greatest of all bounds.
    pub bound_s: f64,
}

impl HierarchyPlan {
    /// Writes the plans as one line of JSON, with the format of plans of sites first.
    ///
    /// # Panics
    /// Never: a plan holds only texts and numbers.
    pub fn to_json(&self) -> String {
        PLAN_FORMAT.write(self).expect("a plan holds only texts and numbers")
    }
}

/// Plans both levels, on the rates at the start: the insides with the options `inner`, the trees between
/// sites with the options `trees`. `payload_share` is the part of a frame's bits that are gradients, from 0
/// to 1.
///
/// # Errors
/// A job inside a site with another gradient; a network that has no plan.
pub fn plan_two_levels(
    hierarchy: &Hierarchy,
    job: &SiteJob,
    inner: &inside::Options<'_>,
    trees: &Options,
    payload_share: f64,
) -> Result<HierarchyPlan, HierarchyError> {
    hierarchy.fits(job)?;
    let bits = job.gradient_bytes() as f64 * 8.0 / payload_share;
    let mut insides = Vec::new();
    for Inside { site, topology } in &hierarchy.insides {
        let plan = inside::plan(topology, &topology.jobs()[0], inner)
            .map_err(|error| HierarchyError::InsidePlan { site: site.clone(), error })?;
        let most_bps = plan.bounds.two_levels_bps.unwrap_or(plan.bounds.integral_bps);
        let (seconds, bound_s) = (bits / plan.rate_bps, bits / most_bps);
        insides.push(InsidePlan { site: site.clone(), plan, seconds, bound_s });
    }
    let overlay = &hierarchy.overlay;
    let between = plan(overlay, job, &overlay.rates_at(0.0), trees)?;
    let bound_s = insides.iter().map(|inside| inside.bound_s).fold(between.bounds.seconds, f64::max);
    Ok(HierarchyPlan { insides, between, bound_s })
}
