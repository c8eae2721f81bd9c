//! Figures of a plan that do not depend on the size of the gradient.

use inart_planner_aggregation::{Options, Paths, Plan, PlanError, Results, plan};

use crate::network::Network;
use crate::series::Method;

/// A plan in figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// f, bit/s: rate at which every worker can send without exceeding a capacity that its scheme respects.
    pub rate_bps: f64,
    /// Traffic into the servers per iteration, in gradients: Σ_s x_s · (flows and sums into s).
    pub into_servers: f64,
    /// Traffic on the links per iteration, in gradients: Σ over flows and sums of x_s · links.
    pub over_links: f64,
    /// f~, the optimum of LP-InArt (Eq. 5), bit/s, if it was computed. No plan over shortest paths that sums
    /// each gradient at most once exceeds it, split or not.
    pub lp_bps: Option<f64>,
    /// Proven bound on every unsplit plan of the same aggregation depth, bit/s.
    pub bound_bps: f64,
}

impl Outcome {
    /// Plans the network that `seed` draws, rounding with the same seed.
    pub(crate) fn of(network: Network, seed: u64, method: Method) -> Result<Outcome, PlanError> {
        let topology = network.topology(seed);
        // The InArt paper's P, and its model, which has no results.
        let (paths, results) = (Paths::Shortest, Results::Ignored);
        let options = Options { seed, levels: method.levels, paths, results, ..Options::new(method.scheme) };
        Ok(Outcome::from(&plan(&topology, &topology.jobs()[0], &options)?))
    }
}

impl From<&Plan> for Outcome {
    fn from(plan: &Plan) -> Self {
        let share = |server: &str| {
            plan.shards.iter().find(|shard| shard.server == server).map_or(0.0, |shard| shard.share)
        };
        let links = |path: &[String]| path.len().saturating_sub(1) as f64;
        let (mut into_servers, mut over_links) = (0.0, 0.0);
        for flow in &plan.flows {
            let x = share(&flow.server);
            over_links += x * links(&flow.path);
            into_servers += if flow.aggregator.is_none() { x } else { 0.0 };
        }
        for trunk in &plan.trunks {
            let x = share(&trunk.server);
            over_links += x * links(&trunk.path);
            into_servers += x;
        }
        Outcome {
            rate_bps: plan.rate_bps,
            into_servers,
            over_links,
            lp_bps: plan.bounds.lp_bps,
            bound_bps: plan.bound_bps(),
        }
    }
}
