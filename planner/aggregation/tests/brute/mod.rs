//! The best plan over all simple paths by an independent integer program, and random networks for comparison.
//! Uses the topology and Eq. (1), and nothing of the planner.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use good_lp::{Constraint, Expression, ProblemVariables, Solution, SolverModel, Variable, highs, variable};
use inart_planner_aggregation::Results;
use inart_topologies::switched::{Job, NodeId, NodeKind, Topology};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Size limits of networks.
pub struct Size {
    pub switches: usize,
    pub workers: usize,
    pub servers: usize,
}

/// Returns a random network: a tree of switches with more links, unequal rates, hosts on one or two switches,
/// background traffic. `one_way` links are full in one direction.
pub fn network(seed: u64, most: &Size, one_way: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let switches = rng.random_range(2..=most.switches);
    let (workers, servers) = (rng.random_range(1..=most.workers), rng.random_range(1..=most.servers));
    let rates = [1, 2, 3, 5, 7, 10, 20];
    let mut links: Vec<(String, String, u32)> = Vec::new();
    for b in 1..switches {
        links.push((
            format!("v{}", rng.random_range(0..b)),
            format!("v{b}"),
            *rates.choose(&mut rng).unwrap(),
        ));
    }
    for _ in 0..rng.random_range(0..=switches) {
        let (a, b) = (rng.random_range(0..switches), rng.random_range(0..switches));
        let known = |(x, y, _): &(String, String, u32)| {
            let (a, b) = (format!("v{a}"), format!("v{b}"));
            (x, y) == (&a, &b) || (x, y) == (&b, &a)
        };
        if a != b && !links.iter().any(known) {
            links.push((format!("v{a}"), format!("v{b}"), *rates.choose(&mut rng).unwrap()));
        }
    }
    let fabric = links.len();
    let mut text = "name: drawn\nnodes:\n".to_owned();
    for v in 0..switches {
        let aggregation = [0, 2, 4, 6, 10, 16, 30].choose(&mut rng).unwrap();
        let _ = writeln!(text, "  - {{name: v{v}, kind: switch, aggregation_capacity: {aggregation} Mbps}}");
    }
    let hosts = (0..servers).map(|s| format!("s{s}")).chain((0..workers).map(|w| format!("w{w}")));
    for host in hosts {
        let ingress = [4, 8, 12, 20].choose(&mut rng).unwrap();
        let kind = match host.starts_with('s') {
            true if rng.random_bool(0.7) => format!("server, ingress_capacity: {ingress} Mbps"),
            true => "server".to_owned(),
            false => "worker".to_owned(),
        };
        let _ = writeln!(text, "  - {{name: {host}, kind: {kind}}}");
        let at = rng.random_range(0..switches);
        links.push((host.clone(), format!("v{at}"), *[5, 10, 20].choose(&mut rng).unwrap()));
        let second = rng.random_range(0..switches);
        if second != at && rng.random_bool(0.1) {
            links.push((host, format!("v{second}"), 5));
        }
    }
    text.push_str("links:\n");
    for (a, b, rate) in &links {
        let _ = writeln!(text, "  - {{ends: [{a}, {b}], rate: {rate} Mbps}}");
    }
    let mut other = String::new();
    for n in 0..one_way + rng.random_range(0..3) {
        let full = n < one_way;
        let range = if full { 0..fabric.max(1) } else { 0..links.len() };
        let (a, b, rate) = links[rng.random_range(range)].clone();
        let (a, b) = if rng.random() { (b, a) } else { (a, b) };
        let used = if full { rate * 1000 } else { rate * rng.random_range(100..1000) };
        if !other.contains(&format!("[{a}, {b}]")) {
            let _ = writeln!(other, "  - {{link: [{a}, {b}], rate: {used} kbps}}");
        }
    }
    if !other.is_empty() {
        let _ = write!(text, "background:\n{other}");
    }
    text
}

/// A link in one direction, a switch's aggregation or a server's ingress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Arc(NodeId, NodeId),
    Node(NodeId),
}

struct Network<'t> {
    topology: &'t Topology,
    /// Available capacity, Mbps.
    left: BTreeMap<Resource, f64>,
}

impl<'t> Network<'t> {
    fn new(topology: &'t Topology) -> Self {
        let mut left = BTreeMap::new();
        for link in topology.links() {
            let [a, b] = link.ends;
            left.insert(Resource::Arc(a, b), (link.rates_bps[0] - link.background_bps[0]) / 1e6);
            left.insert(Resource::Arc(b, a), (link.rates_bps[1] - link.background_bps[1]) / 1e6);
        }
        for (id, node) in topology.node_ids().zip(topology.nodes()) {
            let total = match node.kind {
                NodeKind::Switch => Some(node.aggregation_bps),
                NodeKind::Server => node.ingress_bps,
                NodeKind::Worker => None,
            };
            left.extend(total.map(|total| (Resource::Node(id), (total - node.background_bps) / 1e6)));
        }
        Network { topology, left }
    }

    fn has(&self, resource: Resource) -> bool {
        self.left.get(&resource).is_none_or(|&left| left > 1e-12)
    }

    /// Returns all simple paths over links with available capacity, as lists of nodes.
    fn paths(&self, from: NodeId, to: NodeId) -> Vec<Vec<NodeId>> {
        let mut found = Vec::new();
        let mut open = vec![vec![from]];
        while let Some(path) = open.pop() {
            let last = path[path.len() - 1];
            if last == to {
                found.push(path);
                continue;
            }
            for link in self.topology.links() {
                let next = match link.ends {
                    [a, b] if a == last => b,
                    [a, b] if b == last => a,
                    _ => continue,
                };
                let through = next == to || self.topology.node(next).kind == NodeKind::Switch;
                if through && !path.contains(&next) && self.has(Resource::Arc(last, next)) {
                    open.push(path.iter().copied().chain([next]).collect());
                }
            }
        }
        found
    }

    /// Returns all trees from a server to all workers without unnecessary links: each worker in turn is
    /// attached to the tree so far by some path. `None` if there are more than `most`.
    fn trees(&self, server: NodeId, workers: &[NodeId], most: usize) -> Option<Vec<Vec<[NodeId; 2]>>> {
        let mut trees: Vec<Vec<[NodeId; 2]>> = vec![Vec::new()];
        for &worker in workers {
            let mut grown = Vec::new();
            for tree in &trees {
                let is_in = |node: NodeId| node == server || tree.iter().any(|arc| arc[1] == node);
                let nodes = std::iter::once(server).chain(tree.iter().map(|arc| arc[1]));
                for node in nodes.filter(|&n| n == server || self.topology.node(n).kind == NodeKind::Switch) {
                    for path in self.paths(node, worker) {
                        if !path[1..].iter().any(|&on| is_in(on)) {
                            let arcs = path.windows(2).map(|hop| [hop[0], hop[1]]);
                            grown.push(tree.iter().copied().chain(arcs).collect());
                        }
                    }
                }
                if grown.len() > most {
                    return None;
                }
            }
            trees = grown;
        }
        Some(trees)
    }

    fn uses(path: &[NodeId]) -> Vec<Resource> {
        let arcs = path.windows(2).map(|hop| Resource::Arc(hop[0], hop[1]));
        arcs.chain([Resource::Node(path[path.len() - 1])]).collect()
    }
}

/// Route of a unit of a shard: its worker, end, loads, and variables.
struct Route {
    unit: NodeId,
    end: NodeId,
    uses: Vec<Resource>,
    chosen: Variable,
    rate: Variable,
}

/// One tree of results of a server, and its variables.
struct TreeRoute {
    arcs: Vec<[NodeId; 2]>,
    chosen: Variable,
}

/// Adds one of these trees for the flow of each worker, `f`, which is below `most`.
fn tree_routes(
    trees: Vec<Vec<[NodeId; 2]>>,
    (f, most): (Variable, f64),
    variables: &mut ProblemVariables,
    rows: &mut Vec<Constraint>,
    loads: &mut BTreeMap<Resource, Expression>,
) -> Vec<TreeRoute> {
    let mut routes: Vec<TreeRoute> = Vec::new();
    let mut all = Expression::default();
    for arcs in trees {
        let chosen = variables.add(variable().binary());
        let rate = variables.add(variable().min(0.0).max(most));
        rows.push((rate - f - most * chosen).geq(-most));
        for &[from, to] in &arcs {
            loads.entry(Resource::Arc(from, to)).or_default().add_mul(1.0, rate);
        }
        all += rate;
        routes.push(TreeRoute { arcs, chosen });
    }
    rows.push(routes.iter().map(|tree| tree.chosen).sum::<Expression>().eq(1.0));
    rows.push((all - f).geq(0.0));
    routes
}

/// Returns the best rate, bit/s, computed exactly from the placement that the solver found (shares chosen
/// exactly, for one or two servers), so that its tolerances do not matter; `None` if the program has more
/// than `binaries`, and 0 without a plan. `clear`: of plans in which no worker's frames reach a switch from
/// the same node twice. If `results` count, every allowed tree is a choice.
pub fn optimum(
    topology: &Topology,
    job: &Job,
    clear: bool,
    binaries: usize,
    results: Results,
) -> Option<f64> {
    let network = Network::new(topology);
    let switches: Vec<NodeId> = topology
        .node_ids()
        .filter(|&v| topology.node(v).kind == NodeKind::Switch && network.has(Resource::Node(v)))
        .filter(|&v| topology.node(v).aggregation_bps > 0.0)
        .collect();
    let most = 1.0 + job.workers.iter().map(|&w| access(&network, w)).fold(f64::INFINITY, f64::min);
    let mut variables = ProblemVariables::new();
    let mut rows = Vec::new();
    let mut loads: BTreeMap<Resource, Expression> = BTreeMap::new();
    let sending: Vec<Variable> =
        job.servers.iter().map(|_| variables.add(variable().min(0.0).max(most))).collect();
    let mut routes: Vec<Vec<Route>> = Vec::new();
    let mut trees: Vec<Vec<TreeRoute>> = Vec::new();
    let mut count = 0;
    for (&server, &f) in job.servers.iter().zip(&sending) {
        if !network.has(Resource::Node(server)) {
            return Some(0.0);
        }
        let mut of_server: Vec<Route> = Vec::new();
        let ends = switches.iter().map(|&v| (v, server));
        let flows = job
            .workers
            .iter()
            .flat_map(|&w| switches.iter().copied().chain([server]).map(move |end| (w, end)));
        for (unit, end) in ends.chain(flows) {
            for path in network.paths(unit, end) {
                count += 1;
                if count > binaries {
                    return None;
                }
                let chosen = variables.add(variable().binary());
                let rate = variables.add(variable().min(0.0).max(most));
                rows.push((rate - f - most * chosen).geq(-most));
                let uses = Network::uses(&path);
                uses.iter().for_each(|&r| loads.entry(r).or_default().add_mul(1.0, rate));
                of_server.push(Route { unit, end, uses, chosen, rate });
            }
        }
        rows.extend(requirements(job, &switches, f, &of_server, clear));
        routes.push(of_server);
        if results == Results::Counted {
            let found = network.trees(server, &job.workers, binaries)?;
            count += found.len();
            if count > binaries {
                return None;
            }
            trees.push(tree_routes(found, (f, most), &mut variables, &mut rows, &mut loads));
        }
    }
    for (resource, load) in loads {
        if let Some(&left) = network.left.get(&resource) {
            rows.push(load.leq(left));
        }
    }
    let total: Expression = sending.iter().sum();
    let mut problem = variables
        .maximise(total)
        .using(highs)
        .set_threads(1)
        .set_option("mip_rel_gap", 1e-7)
        .set_option("mip_feasibility_tolerance", 1e-9);
    for row in rows {
        problem.add_constraint(row);
    }
    let Ok(solution) = problem.solve() else { return Some(0.0) };
    let mut units = units(&network, job, &routes, &|route| solution.value(route.chosen) > 0.5);
    for (s, trees) in trees.iter().enumerate() {
        let chosen = trees.iter().filter(|tree| solution.value(tree.chosen) > 0.5);
        for &[from, to] in chosen.flat_map(|tree| &tree.arcs) {
            units.entry(Resource::Arc(from, to)).or_insert_with(|| vec![0.0; job.servers.len()])[s] += 1.0;
        }
    }
    let rows: Vec<(Vec<f64>, f64)> = units.into_iter().map(|(r, n)| (n, network.left[&r])).collect();
    Some(best_sum(&rows) * 1e6)
}

/// Returns the constraints on the routes of one server: `f` is the flow of each worker to it.
fn requirements(
    job: &Job,
    switches: &[NodeId],
    f: Variable,
    routes: &[Route],
    clear: bool,
) -> Vec<Constraint> {
    let mut rows = Vec::new();
    let sum = |select: &dyn Fn(&Route) -> bool| -> Expression {
        routes.iter().filter(|route| select(route)).map(|route| route.chosen).sum()
    };
    for &w in &job.workers {
        rows.push(sum(&|route| route.unit == w).eq(1.0));
        // The flow of a worker is at least `f`, on any route: F is not cut by fractions.
        let all: Expression = routes.iter().filter(|route| route.unit == w).map(|route| route.rate).sum();
        rows.push((all - f).geq(0.0));
        for &v in switches {
            rows.push(
                (sum(&|route| route.unit == v) - sum(&|route| route.unit == w && route.end == v)).geq(0.0),
            );
        }
    }
    for flow in routes.iter().filter(|route| clear && job.workers.contains(&route.unit)) {
        for trunk in routes.iter().filter(|trunk| trunk.unit == flow.end) {
            let arcs = |route: &Route| route.uses[..route.uses.len() - 1].to_vec();
            if arcs(trunk).iter().any(|arc| arcs(flow).contains(arc)) {
                rows.push((flow.chosen + trunk.chosen).leq(1.0));
            }
        }
    }
    rows
}

/// Returns how many flows and sums of each server's shard load a resource in a placement.
fn units(
    network: &Network<'_>,
    job: &Job,
    routes: &[Vec<Route>],
    is_set: &dyn Fn(&Route) -> bool,
) -> BTreeMap<Resource, Vec<f64>> {
    let mut units: BTreeMap<Resource, Vec<f64>> = BTreeMap::new();
    for (s, routes) in routes.iter().enumerate() {
        let used = |v: NodeId| routes.iter().any(|route| route.end == v && is_set(route));
        for route in routes.iter().filter(|route| is_set(route)) {
            if job.workers.contains(&route.unit) || used(route.unit) {
                for &r in route.uses.iter().filter(|r| network.left.contains_key(r)) {
                    units.entry(r).or_insert_with(|| vec![0.0; job.servers.len()])[s] += 1.0;
                }
            }
        }
    }
    units
}

fn access(network: &Network<'_>, host: NodeId) -> f64 {
    let out = network.left.iter().filter(|(r, _)| matches!(r, Resource::Arc(from, _) if *from == host));
    out.map(|(_, left)| *left).sum()
}

/// Returns the largest sum of one or two rates under rows n F <= left: at a corner.
fn best_sum(rows: &[(Vec<f64>, f64)]) -> f64 {
    let fits = |f: &[f64]| {
        let used = |n: &[f64]| n.iter().zip(f).map(|(n, f)| n * f).sum::<f64>();
        f.iter().all(|f| *f >= 0.0) && rows.iter().all(|(n, left)| used(n) <= left * (1.0 + 1e-12))
    };
    if rows[0].0.len() == 1 {
        return rows.iter().map(|(n, left)| left / n[0]).fold(f64::INFINITY, f64::min);
    }
    let axes = [(vec![1.0, 0.0], 0.0), (vec![0.0, 1.0], 0.0)];
    let lines: Vec<&(Vec<f64>, f64)> = rows.iter().chain(&axes).collect();
    let mut best: f64 = 0.0;
    for (i, (p, a)) in lines.iter().enumerate() {
        for (q, b) in &lines[..i] {
            let det = p[0] * q[1] - p[1] * q[0];
            if det.abs() > 1e-12 {
                let f = [(a * q[1] - b * p[1]) / det, (b * p[0] - a * q[0]) / det].map(|f| f.max(0.0));
                if fits(&f) {
                    best = best.max(f[0] + f[1]);
                }
            }
        }
    }
    best
}
