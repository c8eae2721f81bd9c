//! Plans of both levels.

use inart_planner_aggregation::{Options, Plan};
use inart_planner_sites::{Options as TreeOptions, Plan as TreePlan};
use inart_topologies::sites::{Hierarchy, SiteJob};
use serde::Serialize;

use crate::error::HierarchyError;

/// The plan of a site's inside.
#[derive(Debug, Clone, Serialize)]
pub struct InsidePlan {
    /// The site.
    pub site: String,
    /// Which switch adds up what, and the rate.
    pub plan: Plan,
    /// How long its workers' gradients take to the site, and sums take back, in seconds.
    pub seconds: f64,
    /// What no plan can take less than, in seconds.
    pub bound_s: f64,
}

/// Plans of both levels.
#[derive(Debug, Clone, Serialize)]
pub struct HierarchyPlan {
    /// The insides.
    pub insides: Vec<InsidePlan>,
    /// The trees between sites.
    pub between: TreePlan,
    /// No schedule of both levels takes less, in seconds: the greatest of all bounds.
    pub bound_s: f64,
}

/// Plans both levels, on the rates at the start. `inner` says how insides are planned, `trees` how what is
/// between is. `payload_share` (0 to 1) is how much of a frame's bits are gradients.
///
/// # Errors
/// An inside job with another gradient; no plan for one of the networks.
pub fn plan(
    hierarchy: &Hierarchy,
    job: &SiteJob,
    inner: &Options<'_>,
    trees: &TreeOptions,
    payload_share: f64,
) -> Result<HierarchyPlan, HierarchyError> {
    hierarchy.fits(job)?;
    let bits = job.gradient_bytes() as f64 * 8.0 / payload_share;
    let mut insides = Vec::new();
    for inside in &hierarchy.insides {
        let plan = inart_planner_aggregation::plan(&inside.topology, &inside.topology.jobs()[0], inner)
            .map_err(|error| HierarchyError::InsidePlan { site: inside.site.clone(), error })?;
        let most_bps = plan.bounds.two_levels_bps.unwrap_or(plan.bounds.integral_bps);
        let (seconds, bound_s) = (bits / plan.rate_bps, bits / most_bps);
        insides.push(InsidePlan { site: inside.site.clone(), plan, seconds, bound_s });
    }
    let overlay = &hierarchy.overlay;
    let between = inart_planner_sites::plan(overlay, job, &overlay.rates_at(0.0), trees)?;
    let bound_s = insides.iter().map(|inside| inside.bound_s).fold(between.bounds.seconds, f64::max);
    Ok(HierarchyPlan { insides, between, bound_s })
}
