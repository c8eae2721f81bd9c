//! Alternative plans for running jobs: other routes and aggregators, for the same shares.

use crate::{Options, Plan, PlanError, Problem, Promises, Scheme, Shares, plan, schemes};
use inart_topologies::switched::{NodeId, Topology};

/// Routes of another scheme, with the shares of an active plan.
struct SameShares<'a> {
    routes: &'a dyn Scheme,
    shares: Vec<f64>,
}

impl Scheme for SameShares<'_> {
    fn name(&self) -> &'static str {
        self.routes.name()
    }

    fn summary(&self) -> &'static str {
        "the routes of another scheme, for shares that are given"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Fixed, ..self.routes.promises() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let routes = self.routes.plan(problem)?;
        let topology = problem.topology();
        let node = |name: &String| topology.node_named(name);
        let path = |path: &[String]| path.iter().map(node).collect::<Option<Vec<NodeId>>>();
        let mut draft = problem.draft();
        for flow in &routes.flows {
            if let (Some(worker), Some(server), Some(path)) =
                (node(&flow.worker), node(&flow.server), path(&flow.path))
            {
                draft.flow(worker, server, path);
            }
        }
        for trunk in &routes.trunks {
            if let (Some(switch), Some(server), Some(path)) =
                (node(&trunk.aggregator), node(&trunk.server), path(&trunk.path))
            {
                draft.trunk(switch, server, path);
            }
        }
        draft.shares(self.shares.clone());
        draft.plan()
    }
}

/// Returns up to `most` sets of plans for the jobs of `plans`, in their order, whose routes differ from these
/// and from each other. The rate of a job is equal in all of them: the least that any of them or `plans`
/// allows. Schemes that cannot plan such jobs are left out.
pub fn alternatives(topology: &Topology, plans: &[Plan], seed: u64, most: usize) -> Vec<Vec<Plan>> {
    let mut all: Vec<Vec<Plan>> = Vec::new();
    let schemes = [schemes::OPTIMIZED, schemes::ATP, schemes::LBMM, schemes::R_INART, schemes::INART];
    for (scheme, seed) in
        [seed + 1, seed + 2].into_iter().flat_map(|seed| schemes.map(|scheme| (scheme, seed)))
    {
        if all.len() == most {
            break;
        }
        let others = plans.iter().map(|running| another(topology, running, scheme, seed));
        let Some(others) = others.collect::<Option<Vec<Plan>>>() else { continue };
        let known = |sets: &Vec<Plan>| sets.iter().zip(&others).all(|(set, other)| is_same(set, other));
        if !others.iter().zip(plans).all(|(other, running)| is_same(other, running)) && !all.iter().any(known)
        {
            all.push(others);
        }
    }
    for (job, running) in plans.iter().enumerate() {
        let rates = all.iter().map(|set| set[job].rate_bps);
        let rate_bps = rates.fold(running.rate_bps, f64::min);
        all.iter_mut().for_each(|set| set[job].slow_down(rate_bps));
    }
    all
}

/// Plans the job by another scheme or seed, with the shares of an active plan.
fn another(topology: &Topology, running: &Plan, routes: &dyn Scheme, seed: u64) -> Option<Plan> {
    let shares = running.shards.iter().map(|shard| shard.share).collect();
    let scheme = SameShares { routes, shares };
    let how = Options { seed, time_left: &|| 0.0, ..Options::new(&scheme) };
    let mut other = plan(topology, topology.job_named(&running.job)?, &how).ok()?;
    // Shares stay equal bit for bit: they cut the gradient.
    other.shards.clone_from(&running.shards);
    Some(other)
}

/// Returns whether two plans of a job have equal routes.
fn is_same(one: &Plan, other: &Plan) -> bool {
    one.flows == other.flows && one.trunks == other.trunks && one.results == other.results
}
