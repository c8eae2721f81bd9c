//! Checks a plan against its topology from the plan's text alone. Shares no code with the schemes: it knows the
//! topology, the plan, and the constraints of Eq. (1) of the paper.

mod passes;
mod violation;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::options::Paths;
use crate::plan::{Plan, Trunk, WORKERS_PER_SUM};
use crate::topology::{Job, NodeId, NodeKind, Topology};
pub use violation::Violation;

/// Relative tolerance of every comparison of rates.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// Verifies every constraint, path, trunk, share, load and the rate of a plan.
///
/// Switches' aggregation is not held against a plan of the scheme `atp-nocap`, which ignores it by definition.
pub fn check(topology: &Topology, plan: &Plan) -> Result<(), Vec<Violation>> {
    examine(topology, plan).map(drop)
}

/// What a valid plan uses of a resource that has a limit.
pub(crate) struct Use {
    pub resource: String,
    /// At the plan's rate.
    pub used_bps: f64,
    /// What there is, background taken off, for this plan and all others.
    pub capacity_bps: f64,
    /// Whether the plan's scheme ignores the limit.
    pub ignored: bool,
}

/// Like [`check`]; says what the plan uses.
pub(crate) fn examine(topology: &Topology, plan: &Plan) -> Result<Vec<Use>, Vec<Violation>> {
    if plan.topology != topology.name() {
        let what = format!("this plan is for topology \"{}\", not \"{}\"", plan.topology, topology.name());
        return Err(vec![Violation::OtherTopology(what)]);
    }
    let Some(job) = topology.job_named(&plan.job) else {
        let what = format!("topology \"{}\" has no job \"{}\"", plan.topology, plan.job);
        return Err(vec![Violation::OtherTopology(what)]);
    };
    let (found, distances) = (Vec::new(), HashMap::new());
    let mut checker = Checker { topology, job, plan, found, neighbours: None, distances };
    if !(1..=2).contains(&plan.levels) {
        checker.wrong("levels", format!("{}, not 1 or 2", plan.levels));
    }
    if (plan.levels == 2) != plan.bounds.two_levels_bps.is_some() {
        checker.wrong("bounds.two_levels_bps", "plans of two levels state it, others do not");
    }
    checker.exactness();
    let shares = checker.shares();
    let demand = checker.demand(&shares);
    // Only of flows and trunks that make sense.
    if checker.found.is_empty() {
        passes::ambiguous(plan).into_iter().for_each(|(place, problem)| checker.wrong(&place, problem));
    }
    // Numbers mean nothing while the structure is wrong.
    if checker.found.is_empty() {
        checker.rates(&demand);
    }
    if !checker.found.is_empty() {
        return Err(checker.found);
    }
    let uses = demand.iter().filter(|&(_, &per_bit)| per_bit > 0.0).filter_map(|(&resource, per_bit)| {
        Some(Use {
            resource: checker.resource_name(resource),
            used_bps: per_bit * plan.rate_bps,
            capacity_bps: checker.capacity(resource)?,
            ignored: checker.is_ignored(resource),
        })
    });
    Ok(uses.collect())
}

/// What a plan uses of one resource per bit/s of the job's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Resource {
    Arc(NodeId, NodeId),
    Node(NodeId),
}

struct Checker<'a> {
    topology: &'a Topology,
    job: &'a Job,
    plan: &'a Plan,
    found: Vec<Violation>,
    /// For plans over shortest paths: who is linked to whom, and hops to the ends met so far.
    neighbours: Option<HashMap<NodeId, Vec<NodeId>>>,
    distances: HashMap<NodeId, HashMap<NodeId, usize>>,
}

impl Checker<'_> {
    fn wrong(&mut self, place: &str, problem: impl Into<String>) {
        self.found.push(Violation::Malformed { place: place.to_owned(), problem: problem.into() });
    }

    fn name(&self, id: NodeId) -> &str {
        &self.topology.node(id).name
    }

    /// A plan is exact if its job is, and then no switch adds anything.
    fn exactness(&mut self) {
        let plan = self.plan;
        if plan.exact != self.job.exact {
            let is = |exact: bool| if exact { "exact" } else { "not exact" };
            let problem = format!("the plan is {}, its job is {}", is(plan.exact), is(self.job.exact));
            self.wrong("exact", problem);
        }
        if !self.job.exact {
            return;
        }
        for flow in plan.flows.iter().filter(|flow| flow.aggregator.is_some()) {
            let place = format!("flow {} to {}", flow.worker, flow.server);
            self.wrong(
                &place,
                "a switch adds it up, in an exact job, whose sums are made at the servers only",
            );
        }
        for trunk in &plan.trunks {
            self.wrong(&trunk_place(trunk), "an exact job has no sums in switches");
        }
    }

    /// x_s by server: each server of the job once, from 0 to 1, summing to 1.
    fn shares(&mut self) -> HashMap<NodeId, f64> {
        let mut shares = HashMap::new();
        for shard in &self.plan.shards {
            let place = format!("shard {}", shard.server);
            match self.topology.node_named(&shard.server).filter(|id| self.job.servers.contains(id)) {
                None => self.wrong(&place, "this is no server of the job"),
                Some(id) if shares.insert(id, shard.share).is_some() => self.wrong(&place, "listed twice"),
                Some(_) => {}
            }
            if !(shard.share.is_finite() && (0.0..=1.0 + TOLERANCE).contains(&shard.share)) {
                self.wrong(&place, format!("its share is {}, not from 0 to 1", shard.share));
            }
        }
        for &server in &self.job.servers {
            if !shares.contains_key(&server) {
                self.wrong(&format!("shard {}", self.name(server)), "missing");
            }
        }
        let sum: f64 = self.plan.shards.iter().map(|shard| shard.share).sum();
        if !near(sum, 1.0) {
            self.wrong("shards", format!("the shares sum to {sum}, not to 1"));
        }
        shares
    }

    /// Walks all flows and trunks; returns what each resource carries per bit/s of the rate.
    fn demand(&mut self, shares: &HashMap<NodeId, f64>) -> BTreeMap<Resource, f64> {
        let mut demand = BTreeMap::new();
        let share = |server: NodeId| shares.get(&server).copied().unwrap_or(0.0);
        let mut sent: HashSet<(NodeId, NodeId)> = HashSet::new();
        let mut groups: BTreeMap<(NodeId, NodeId), BTreeSet<NodeId>> = BTreeMap::new();
        for flow in &self.plan.flows {
            let place = format!("flow {} to {}", flow.worker, flow.server);
            let worker = self.member(&place, &flow.worker, &self.job.workers, "worker");
            let server = self.member(&place, &flow.server, &self.job.servers, "server");
            let (Some(worker), Some(server)) = (worker, server) else { continue };
            if !sent.insert((worker, server)) {
                self.wrong(&place, "listed twice: each worker's share is added up in one place");
            }
            let end = match &flow.aggregator {
                None => server,
                Some(name) => {
                    let Some(v) = self.switch(&place, name) else { continue };
                    groups.entry((server, v)).or_default().insert(worker);
                    v
                }
            };
            self.walk(&place, &flow.path, worker, end, share(server), &mut demand);
            *demand.entry(Resource::Node(end)).or_default() += share(server);
        }
        for &worker in &self.job.workers {
            for &server in self.job.servers.iter().filter(|&&server| !sent.contains(&(worker, server))) {
                self.wrong(&format!("flow {} to {}", self.name(worker), self.name(server)), "missing");
            }
        }
        self.trunks(groups, share, &mut demand);
        for tree in self.plan.results.iter().filter(|_| self.plan.results_counted) {
            let server = self.member("results", &tree.server, &self.job.servers, "server");
            let ends = |link: &[String; 2]| {
                Some((self.topology.node_named(&link[0])?, self.topology.node_named(&link[1])?))
            };
            for (from, to) in tree.links.iter().filter_map(ends) {
                *demand.entry(Resource::Arc(from, to)).or_default() += server.map_or(0.0, share);
            }
        }
        demand
    }

    /// Walks all trunks. `direct`: by (server, aggregator) the workers whose flows end there.
    fn trunks(
        &mut self,
        direct: BTreeMap<(NodeId, NodeId), BTreeSet<NodeId>>,
        share: impl Fn(NodeId) -> f64,
        demand: &mut BTreeMap<Resource, f64>,
    ) {
        let plan = self.plan;
        let mut ends: BTreeMap<(NodeId, NodeId), NodeId> = BTreeMap::new();
        let mut listed: Vec<(&Trunk, NodeId, NodeId)> = Vec::new();
        for trunk in &plan.trunks {
            let place = trunk_place(trunk);
            let server = self.member(&place, &trunk.server, &self.job.servers, "server");
            let (Some(server), Some(v)) = (server, self.switch(&place, &trunk.aggregator)) else { continue };
            let last = trunk.path.last().and_then(|name| self.topology.node_named(name));
            let second = last.filter(|&u| u != v && self.topology.node(u).kind == NodeKind::Switch);
            if second.is_some() && plan.levels < 2 {
                self.wrong(&place, "it ends at another switch, which only a plan of two levels may do");
                continue;
            }
            let end = second.unwrap_or(server);
            if ends.insert((server, v), end).is_some() {
                self.wrong(&place, "the trunk is listed twice");
            }
            listed.push((trunk, server, v));
            // Its list of workers is compared with the group below.
            let sums = trunk.workers.len().div_ceil(WORKERS_PER_SUM) as f64;
            self.walk(&place, &trunk.path, v, end, sums * share(server), demand);
            *demand.entry(Resource::Node(end)).or_default() += sums * share(server);
        }
        let mut summed = direct.clone();
        for (&(server, v), &end) in ends.iter().filter(|&(&(server, _), &end)| end != server) {
            let group = direct.get(&(server, v)).cloned().unwrap_or_default();
            let sum = summed.entry((server, end)).or_default();
            sum.extend(group);
            let onward = ends.get(&(server, end)).copied();
            let name = self.name(end).to_owned();
            let place = format!("trunk {} to {}", self.name(v), self.name(server));
            match onward {
                None => self.wrong(&place, format!("it ends at {name}, which has no trunk to the server")),
                Some(next) if next != server => self.wrong(
                    &place,
                    format!(
                        "it ends at {name}, whose own sum goes to {}: that is a third level",
                        self.name(next)
                    ),
                ),
                Some(_) => {}
            }
        }
        for (trunk, server, v) in listed {
            let named: Vec<_> = trunk.workers.iter().map(|name| self.topology.node_named(name)).collect();
            let distinct: BTreeSet<NodeId> = named.iter().flatten().copied().collect();
            match summed.get(&(server, v)) {
                None => self.wrong(&trunk_place(trunk), "nothing is added up there"),
                Some(group) if *group != distinct || named.len() != group.len() => {
                    self.wrong(
                        &trunk_place(trunk),
                        "its workers are not those whose gradients are added up there",
                    );
                }
                Some(_) => {}
            }
        }
        for (server, v) in direct.into_keys().filter(|key| !ends.contains_key(key)) {
            let place = format!("trunk {} to {}", self.name(v), self.name(server));
            self.wrong(&place, "missing: flows are added up there, but the sum goes nowhere");
        }
    }

    fn member(&mut self, place: &str, name: &str, members: &[NodeId], kind: &str) -> Option<NodeId> {
        let found = self.topology.node_named(name).filter(|id| members.contains(id));
        if found.is_none() {
            self.wrong(place, format!("\"{name}\" is no {kind} of the job"));
        }
        found
    }

    fn switch(&mut self, place: &str, name: &str) -> Option<NodeId> {
        let found =
            self.topology.node_named(name).filter(|&id| self.topology.node(id).kind == NodeKind::Switch);
        if found.is_none() {
            self.wrong(place, format!("\"{name}\" is no switch"));
        }
        found
    }

    /// A path: from `start` to `end`, over existing links, through switches only, no node twice.
    fn walk(
        &mut self,
        place: &str,
        path: &[String],
        start: NodeId,
        end: NodeId,
        share: f64,
        demand: &mut BTreeMap<Resource, f64>,
    ) {
        let Some(nodes) = path.iter().map(|name| self.topology.node_named(name)).collect::<Option<Vec<_>>>()
        else {
            return self.wrong(place, "its path names an unknown node");
        };
        if nodes.first() != Some(&start) || nodes.last() != Some(&end) {
            let (start, end) = (self.name(start).to_owned(), self.name(end).to_owned());
            return self.wrong(place, format!("its path does not lead from {start} to {end}"));
        }
        if nodes.iter().collect::<HashSet<_>>().len() != nodes.len() {
            return self.wrong(place, "its path visits a node twice");
        }
        let between = nodes.get(1..nodes.len() - 1).unwrap_or_default();
        if let Some(&host) = between.iter().find(|&&id| self.topology.node(id).kind != NodeKind::Switch) {
            let problem =
                format!("its path leads through {}, a host, which does not forward", self.name(host));
            return self.wrong(place, problem);
        }
        if self.plan.paths == Some(Paths::Shortest) && nodes.len() - 1 > self.distance(start, end) {
            return self.wrong(place, "its path is longer than others, in a plan over shortest paths");
        }
        for hop in nodes.windows(2) {
            if self.topology.link_between(hop[0], hop[1]).is_none() {
                let problem = format!("there is no link {}-{}", self.name(hop[0]), self.name(hop[1]));
                return self.wrong(place, problem);
            }
            *demand.entry(Resource::Arc(hop[0], hop[1])).or_default() += share;
        }
    }

    /// Hops from one node to another over switches, whatever traffic there is.
    fn distance(&mut self, from: NodeId, to: NodeId) -> usize {
        let topology = self.topology;
        let neighbours = self.neighbours.get_or_insert_with(|| {
            let mut neighbours: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
            for [a, b] in topology.links().iter().map(|link| link.ends) {
                neighbours.entry(a).or_default().push(b);
                neighbours.entry(b).or_default().push(a);
            }
            neighbours
        });
        let of_end = self.distances.entry(to).or_insert_with(|| {
            let mut distances = HashMap::from([(to, 0)]);
            let mut reached = VecDeque::from([to]);
            while let Some(node) = reached.pop_front() {
                let forwards = node == to || topology.node(node).kind == NodeKind::Switch;
                let next = distances[&node] + 1;
                for &before in neighbours.get(&node).filter(|_| forwards).into_iter().flatten() {
                    distances.entry(before).or_insert_with(|| {
                        reached.push_back(before);
                        next
                    });
                }
            }
            distances
        });
        of_end.get(&from).copied().unwrap_or(usize::MAX)
    }

    /// What is left of a resource; `None` when nothing limits it or this plan may ignore it.
    fn capacity(&self, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Arc(from, to) => {
                let link = self.topology.link(self.topology.link_between(from, to)?);
                let backwards = usize::from(link.ends[0] != from);
                Some((link.rate_bps - link.background_bps[backwards]).max(0.0))
            }
            Resource::Node(id) => {
                let node = self.topology.node(id);
                let total = match node.kind {
                    NodeKind::Switch => node.aggregation_bps,
                    NodeKind::Server => node.ingress_bps?,
                    NodeKind::Worker => return None,
                };
                Some((total - node.background_bps).max(0.0))
            }
        }
    }

    fn is_ignored(&self, resource: Resource) -> bool {
        let Resource::Node(id) = resource else { return false };
        self.plan.scheme == "atp-nocap" && self.topology.node(id).kind == NodeKind::Switch
    }

    fn resource_name(&self, resource: Resource) -> String {
        match resource {
            Resource::Arc(from, to) => format!("link {}->{}", self.name(from), self.name(to)),
            Resource::Node(id) => format!("{} {}", self.topology.node(id).kind, self.name(id)),
        }
    }

    /// Capacities at the plan's rate, the rate itself, the loads it lists, and its bounds.
    fn rates(&mut self, demand: &BTreeMap<Resource, f64>) {
        let rate = self.plan.rate_bps;
        if !(rate.is_finite() && rate > 0.0) {
            return self.wrong("rate_bps", format!("it is {rate}, not a positive number"));
        }
        let mut taken = self.taken();
        let mut attainable = f64::INFINITY;
        let mut loads: HashMap<String, (f64, f64)> = HashMap::new();
        for (&resource, &per_bit) in demand.iter().filter(|&(_, &per_bit)| per_bit > 0.0) {
            let Some(capacity_bps) = self.capacity(resource) else { continue };
            let (name, used_bps) = (self.resource_name(resource), rate * per_bit);
            let capacity_bps = (capacity_bps - taken.remove(&name).unwrap_or(0.0)).max(0.0);
            if !self.is_ignored(resource) {
                attainable = attainable.min(capacity_bps / per_bit);
                if used_bps > capacity_bps * (1.0 + TOLERANCE) {
                    self.found.push(Violation::Overload {
                        resource: name.clone(),
                        used_bps,
                        capacity_bps,
                        jobs: Vec::new(),
                    });
                }
            }
            loads.insert(name, (used_bps, capacity_bps));
        }
        for resource in taken.into_keys() {
            self.wrong(&format!("other_jobs: {resource}"), "the plan does not use it");
        }
        self.number("rate_bps", rate, attainable);
        for load in &self.plan.load {
            match loads.get(&load.resource) {
                None => self.wrong(&format!("load of {}", load.resource), "the plan does not use it"),
                Some(&(used, capacity)) => {
                    self.number(&format!("load of {}", load.resource), load.used_bps, used);
                    self.number(&format!("capacity of {}", load.resource), load.capacity_bps, capacity);
                }
            }
        }
        let bound = self.plan.bounds.integral_bps;
        let (place, own) = match self.plan.bounds.two_levels_bps {
            Some(two_levels) => ("bounds.two_levels_bps", two_levels),
            None => ("bounds.integral_bps", bound),
        };
        let claims_feasible = self.plan.scheme != "atp-nocap";
        if !(own.is_finite() && bound.is_finite()) || (claims_feasible && rate > own * (1.0 + TOLERANCE)) {
            self.wrong(place, format!("{own} is no bound on the plan's own rate {rate}"));
        }
        if bound > own * (1.0 + TOLERANCE) {
            self.wrong("bounds", format!("the bound {bound} for one level is above {own} for two"));
        }
        if let Some(lp) = self.plan.bounds.lp_bps
            && (!lp.is_finite() || bound > lp * (1.0 + TOLERANCE))
        {
            self.wrong("bounds", format!("the integral bound {bound} is above the LP's {lp}"));
        }
    }

    /// What the plan says other jobs use, by resource.
    fn taken(&mut self) -> HashMap<String, f64> {
        let mut taken = HashMap::new();
        for other in &self.plan.other_jobs {
            let place = format!("other_jobs: {}", other.resource);
            if !(other.used_bps.is_finite() && other.used_bps >= 0.0) {
                self.wrong(&place, format!("{} is no rate", other.used_bps));
            } else if taken.insert(other.resource.clone(), other.used_bps).is_some() {
                self.wrong(&place, "listed twice");
            }
        }
        taken
    }

    fn number(&mut self, what: &str, stated: f64, found: f64) {
        if !near(stated, found) {
            self.found.push(Violation::WrongNumber { what: what.to_owned(), stated, found });
        }
    }
}

fn trunk_place(trunk: &Trunk) -> String {
    format!("trunk {} to {}", trunk.aggregator, trunk.server)
}

/// Equal up to the tolerance; NaN is near nothing.
fn near(stated: f64, found: f64) -> bool {
    (stated - found).abs() <= TOLERANCE * found.abs()
}
