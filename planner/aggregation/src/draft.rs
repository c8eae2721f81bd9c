//! A plan from routes, for implementations of schemes.

use std::collections::{BTreeMap, BTreeSet};

use crate::choices::Results;
use crate::finish;
use crate::levels;
use crate::model::NodeIx;
use crate::options::{Problem, Shares};
use crate::passes;
use crate::placement::{FlowTo, Placement, equal_shares, trunk_end};
use crate::plan::{Bounds, Limit, Plan};
use crate::plan_error::PlanError;
use crate::racks;
use crate::results::{self, Tree};
use crate::routes::Path;
use inart_topologies::switched::{NodeId, NodeKind};

/// Routes of one job, for conversion to a [`Plan`]: its rate, shares, loads and bounds follow from them.
///
/// A flow ends at the server, or at a switch that adds it up; then that switch has a trunk, which ends at the
/// server or at another switch that has one.
pub struct Draft<'a> {
    problem: Problem<'a>,
    /// Paths by server and worker.
    flows: BTreeMap<(NodeId, NodeId), Vec<NodeId>>,
    /// Paths by server and switch.
    trunks: BTreeMap<(NodeId, NodeId), Vec<NodeId>>,
    /// Links by server.
    results: BTreeMap<NodeId, Vec<[NodeId; 2]>>,
    shares: Option<Vec<f64>>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(problem: Problem<'a>) -> Self {
        let (flows, trunks, results) = Default::default();
        Draft { problem, flows, trunks, results, shares: None }
    }

    /// Sets the path of `worker`'s flow for `server`, from the worker to the server or to the aggregating
    /// switch, both included.
    pub fn flow(&mut self, worker: NodeId, server: NodeId, path: Vec<NodeId>) {
        self.flows.insert((server, worker), path);
    }

    /// The sum that `switch` makes for `server` takes this path, from the switch to the server or to the next
    /// switch that adds it up, both included.
    pub fn trunk(&mut self, switch: NodeId, server: NodeId, path: Vec<NodeId>) {
        self.trunks.insert((server, switch), path);
    }

    /// Sets the links of the results of `server`, each as (nearer to the server, farther away), parents
    /// before children. The default balances the load of links, or uses shortest paths if results do not
    /// count.
    pub fn results(&mut self, server: NodeId, links: Vec<[NodeId; 2]>) {
        self.results.insert(server, links);
    }

    /// Sets the partition of the gradient: x_s of the job's servers in their order. The default is the best
    /// for the routes, or equal shares if [`crate::Options::equal_shares`] or the scheme's promise requires
    /// it.
    pub fn shares(&mut self, shares: Vec<f64>) {
        self.shares = Some(shares);
    }

    /// The plan: the highest rate that these routes and shares allow, all loads, and proven bounds.
    ///
    /// # Errors
    ///
    /// [`PlanError::Draft`] if the routes are not those of a plan, or break the scheme's promises.
    pub fn plan(self) -> Result<Plan, PlanError> {
        let Problem { router, options } = self.problem;
        let model = router.model;
        let (placement, levels) = self.placement().map_err(|problem| self.wrong(problem))?;
        let promises = options.scheme.promises();
        if levels > usize::from(promises.levels) {
            let problem = format!(
                "a gradient is summed {levels} times; the scheme promises {} at most",
                promises.levels
            );
            return Err(self.wrong(problem));
        }
        if !passes::are_clear(model, &placement) {
            let problem =
                "frames of a worker for one server cross a link twice: switches cannot distinguish them";
            return Err(self.wrong(problem.to_owned()));
        }
        let even = equal_shares(model.servers.len());
        let mut placement = router.with_results(placement, self.shares.as_ref().unwrap_or(&even));
        let drafted = self.trees().map_err(|problem| self.wrong(problem))?;
        if options.results == Results::Counted {
            drafted.iter().for_each(|(s, tree)| placement.results[*s] = tree.clone());
        }
        let equal = options.equal_shares || promises.shares == Shares::Equal;
        let shares = match &self.shares {
            Some(shares) => self.whole(shares).map_err(|problem| self.wrong(problem))?,
            None if equal => even,
            None => {
                let counts = placement.counts(model);
                counts.leveled(model, &counts.best_shares(model))
            }
        };
        let bounds = self.bounds(levels)?;
        let mut plan = finish::write(model, options, &placement, &shares, bounds);
        if !(plan.rate_bps.is_finite() && plan.rate_bps > 0.0) {
            return Err(self.wrong(format!("they carry {} bit/s", plan.rate_bps)));
        }
        for (s, tree) in drafted {
            plan.results[s] = results::write(model, model.servers[s], &tree);
        }
        Ok(Plan { levels: levels.max(1) as u8, ..plan })
    }

    fn wrong(&self, problem: String) -> PlanError {
        let scheme = self.problem.options.scheme.name();
        PlanError::Draft { job: self.problem.job().name.clone(), scheme, problem }
    }

    fn name(&self, node: NodeId) -> &str {
        &self.problem.topology().node(node).name
    }

    fn bounds(&self, levels: usize) -> Result<Bounds, PlanError> {
        let model = self.problem.router.model;
        let options = self.problem.options;
        let mut bounds = self.problem.bounds();
        if levels > 1 {
            let most: f64 = model.servers.iter().map(|&server| model.intake_bps(server)).sum();
            let mut bound = most.min(model.min_uplink_bps());
            if levels == 2 {
                bound = bound.min(levels::bound(model, options.equal_shares));
                bound = racks::two_levels(model, options.equal_shares, 0.0, bound, options.time_left);
            }
            bounds.integral_bps = bounds.integral_bps.min(bound);
            bounds.two_levels_bps = Some(bound);
        }
        Ok(bounds)
    }

    /// The shares, if they are those of the whole gradient.
    fn whole(&self, shares: &[f64]) -> Result<Vec<f64>, String> {
        let (servers, sum) = (self.problem.job().servers.len(), shares.iter().sum::<f64>());
        if shares.len() != servers
            || !shares.iter().all(|x| x.is_finite() && *x >= 0.0)
            || (sum - 1.0).abs() > 1e-6
        {
            return Err(format!("the shares {shares:?} are not {servers} from 0 to 1 that sum to 1"));
        }
        Ok(shares.iter().map(|x| x / sum).collect())
    }

    /// The trees that were drafted, by position of their servers.
    fn trees(&self) -> Result<Vec<(usize, Tree)>, String> {
        let servers = &self.problem.job().servers;
        let drafted = self.results.iter().map(|(server, links)| {
            let s = servers.iter().position(|known| known == server);
            let s = s.ok_or_else(|| format!("{} is not a server of the job", self.name(*server)))?;
            let tree = self.tree(*server, links);
            Ok((s, tree.map_err(|problem| format!("results of {}: {problem}", self.name(*server)))?))
        });
        drafted.collect()
    }

    /// Returns a tree, root first, over switches and links with available capacity, to every worker.
    fn tree(&self, server: NodeId, links: &[[NodeId; 2]]) -> Result<Tree, String> {
        let mut fed = BTreeSet::from([server]);
        let mut arcs = Vec::with_capacity(links.len());
        for &[from, to] in links {
            let (a, b) = (self.name(from), self.name(to));
            let forwards = from == server || self.problem.topology().node(from).kind == NodeKind::Switch;
            if !forwards || !fed.contains(&from) {
                return Err(format!("{a} receives nothing to forward to {b}"));
            }
            if !fed.insert(to) {
                return Err(format!("{b} gets them twice"));
            }
            let arc = self.problem.arc(from, to);
            let arc = arc.filter(|&arc| self.problem.router.model.capacity_of(arc) > 0.0);
            arcs.push(arc.ok_or_else(|| format!("the link {a}-{b} is not there, or full"))?);
        }
        match self.problem.job().workers.iter().find(|worker| !fed.contains(worker)) {
            Some(&worker) => Err(format!("{} receives none", self.name(worker))),
            None => Ok(arcs.into()),
        }
    }

    /// The routes by position of server and worker, and how often they add a gradient up at most.
    fn placement(&self) -> Result<(Placement, usize), String> {
        let job = self.problem.job();
        let mut placement = Placement::default();
        let mut levels = 0;
        let foreign =
            self.flows.keys().chain(self.trunks.keys()).find(|(server, _)| !job.servers.contains(server));
        if let Some((server, _)) = foreign {
            return Err(format!("{} is not a server of the job", self.name(*server)));
        }
        for &server in &job.servers {
            let of_server = self.trunks.range((server, NodeId(0))..=(server, NodeId(u32::MAX)));
            let mut trunks: BTreeMap<NodeIx, Path> = BTreeMap::new();
            for (&(_, switch), path) in of_server {
                trunks.insert(switch.0, self.path(switch, server, path)?);
            }
            let mut flows = Vec::new();
            let mut used: BTreeSet<NodeIx> = BTreeSet::new();
            for &worker in &job.workers {
                let what = || format!("flow {} to {}", self.name(worker), self.name(server));
                let path =
                    self.flows.get(&(server, worker)).ok_or_else(|| format!("{} is missing", what()))?;
                let path = self.path(worker, server, path)?;
                let end = trunk_end(self.problem.router.model, &path);
                flows.push(FlowTo { end, path });
                let sums =
                    self.sums(server, end, &trunks).map_err(|problem| format!("{} {problem}", what()))?;
                levels = levels.max(sums.len());
                used.extend(sums);
            }
            if let Some(&idle) = trunks.keys().find(|switch| !used.contains(switch)) {
                return Err(format!(
                    "no gradient is summed at {} for {}",
                    self.name(NodeId(idle)),
                    self.name(server)
                ));
            }
            placement.flows.push(flows);
            placement.trunks.push(trunks);
        }
        if let Some((_, worker)) = self.flows.keys().find(|(_, worker)| !job.workers.contains(worker)) {
            return Err(format!("{} is not a worker of the job", self.name(*worker)));
        }
        Ok((placement, levels))
    }

    /// Returns the switches that aggregate what ends at `end`, one after the other, up to the server.
    fn sums(
        &self,
        server: NodeId,
        end: NodeIx,
        trunks: &BTreeMap<NodeIx, Path>,
    ) -> Result<Vec<NodeIx>, String> {
        let model = self.problem.router.model;
        let ignored = self.problem.options.scheme.promises().ignores.contains(&Limit::Aggregation);
        let mut sums = Vec::new();
        let mut at = end;
        while at != server.0 {
            let name = model.name(at);
            let Some(path) = trunks.get(&at) else {
                return Err(format!("ends at {name}, which has no trunk for that server"));
            };
            if sums.contains(&at) {
                return Err(format!("reaches {name} again and again"));
            }
            let capacity = self.problem.node_bps(NodeId(at));
            if !ignored && capacity <= 0.0 {
                return Err(format!("is summed at {name}, which has no aggregation capacity left"));
            }
            sums.push(at);
            at = trunk_end(model, path);
        }
        Ok(sums)
    }

    /// Returns a path as arcs: over switches and links with available capacity only, no node twice, to the
    /// server or a switch.
    fn path(&self, start: NodeId, server: NodeId, path: &[NodeId]) -> Result<Path, String> {
        let names = || path.iter().map(|&node| self.name(node)).collect::<Vec<_>>().join(" ");
        let wrong = |problem: &str| Err(format!("path {} of {}: {problem}", names(), self.name(start)));
        let is_switch = |node: &NodeId| self.problem.topology().node(*node).kind == NodeKind::Switch;
        let [first, through @ .., last] = path else { return wrong("it has no link") };
        if *first != start || *last != server && !is_switch(last) {
            return wrong("it starts elsewhere, or ends at neither the server nor a switch");
        }
        if !through.iter().all(is_switch) {
            return wrong("hosts do not forward");
        }
        if path.iter().collect::<BTreeSet<_>>().len() != path.len() {
            return wrong("it visits a node twice");
        }
        let mut arcs = Vec::with_capacity(path.len() - 1);
        for hop in path.windows(2) {
            let arc = self.problem.arc(hop[0], hop[1]);
            match arc.filter(|&arc| self.problem.router.model.capacity_of(arc) > 0.0) {
                Some(arc) => arcs.push(arc),
                None => return wrong("a link of it is not there, or full"),
            }
        }
        Ok(arcs.into())
    }
}
