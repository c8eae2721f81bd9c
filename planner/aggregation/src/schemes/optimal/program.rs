//! Eq. (1) itself, as a mixed-integer program for HiGHS; for small networks.
//!
//! Eq. (1) in the InArt paper's names, with its misprints corrected, and the implementation:
//!
//! | paper | here |
//! |---|---|
//! | max f; f = sum_s F_s, F_s = f x_s | `sending`: F_s; equal shares: all the same |
//! | y^{s,w}, y_v^{s,w} in {0,1} with q_p: sum_p q_p^{s,w} = y^{s,w}, sum_p q_p^{s,v,w} = y_v^{s,w} | a `Route`
//! per (s, rack, end, p): how many of the rack's workers take it, in unary: b_k = 1 if n >= k |
//! | y^{s,w} + sum_v y_v^{s,w} = 1 | the counts of a rack's routes to s sum to its workers |
//! | z_v^s in {0,1}, sum_p q_p^{s,v} = z_v^s | a `TrunkRoute` per (s, v, p): t_p = 1 for the one path in use |
//! | y_v^{s,w} <= z_v^s | b_1 of every route to v <= sum_p t_p |
//! | switch v: sum_s F_s sum_w y_v^{s,w} <= C(v) - c(v) | `loads`, a row per resource: products F_s b_k are
//! P_k >= F_s - U_s (1 - b_k), U_s bounds F_s; likewise F_s t_p |
//! | server s: F_s (sum_w y^{s,w} + sum_v z_v^s) <= B(s) - b(s) | the same, with B(s) - b(s) |
//! | link e: sum_s F_s (q over e) <= B(e) - b(e), each direction | the same |
//!
//! Workers of a rack are interchangeable in all of these rows, hence counts.
//!
//! If results count, r(s, e) in {0, 1} says whether the tree of s has link e, which then carries F_s r(s, e)
//! more, for links that could be overloaded; and a flow of F_s to every worker's switch stays within these
//! products, so that the chosen links connect them. Results arrive at a worker's only link at f.
//!
//! **Units.** Rates are in units of the largest U_s, the highest rate of a server alone: the solver's
//! tolerances, which are absolute, do not depend on the speed of the network. Rows that cannot be exceeded
//! are left out.
//!
//! **Proofs.** HiGHS 1.15 calls solutions optimal that are not (`tests/data/exact-below-inart.yaml` in units
//! of its links). So a rate counts as the best only if two runs with different settings agree on it: one
//! finds it, the other finds nothing above it.

use std::collections::BTreeMap;

use good_lp::{
    Expression, ProblemVariables, ResolutionError, Solution, SolverModel, Variable, highs, variable,
};

use crate::bounds;
use crate::classes::{Class, classes};
use crate::model::{Arc, Model, NodeIx, Resource};
use crate::placement::{FlowTo, Placement, equal_shares};
use crate::plan::WORKERS_PER_SUM;
use crate::router::Router;
use crate::routes::Path;
use crate::schemes::optimized::starts;
use crate::steiner::Steiner;

/// Result of the program for plans at or above a rate.
pub(crate) enum Answer {
    /// Best plan found, and whether two runs agree that no plan is above it by more than [`SAME`].
    Best { placement: Placement, proven: bool },
    /// Two runs agree that no plan reaches that rate.
    None,
    /// Aborted search: too large, or more nodes than allowed.
    Unknown,
}

/// Effort: programs with more binaries are not started, searches with more nodes are aborted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub binaries: usize,
    pub nodes: i32,
}

/// Rates that differ by less than this part are the same.
pub(crate) const SAME: f64 = 1e-6;
/// Relative increase of the rate for the next run; the solver's tolerance is below it.
const ABOVE: f64 = 2e-7;
/// Feasibility and integrality, in units in which rates are at most 1.
const TOLERANCE: f64 = 1e-9;
/// Runs at most; each but the last two found a better plan than those before it.
const RUNS: usize = 6;

/// Settings of HiGHS that change its search.
struct Settings {
    presolve: &'static str,
    seed: i32,
}

/// Runs alternate between these settings.
const SETTINGS: [Settings; 2] =
    [Settings { presolve: "on", seed: 0 }, Settings { presolve: "off", seed: 17 }];

/// Outcome of one run.
enum Outcome {
    /// A plan, and the rate (bit/s) above which there is none.
    Best(Placement, f64),
    None,
    Unknown,
}

/// Route of a rack's flows: an end, a path, and its unary count.
struct Route {
    class: usize,
    end: NodeIx,
    path: Path,
    count: Vec<Variable>,
}

/// Route of a trunk.
struct TrunkRoute {
    v: NodeIx,
    path: Path,
    used: Variable,
    rate: Variable,
}

/// Finds the best plan over the router's paths whose rate is at least `at_least` bit/s, within `time_left`
/// (seconds). `clear`: only plans whose passes switches can distinguish, that is, no worker's flow takes a
/// link that the trunk of its group takes.
pub(crate) fn solve(
    router: &Router<'_>,
    equal: bool,
    at_least: f64,
    clear: bool,
    effort: Effort,
    time_left: &dyn Fn() -> f64,
) -> Answer {
    // The program counts one sum per group.
    if router.model.workers.len() > WORKERS_PER_SUM {
        return Answer::Unknown;
    }
    let mut found: Option<(f64, Placement)> = None;
    // Whether the previous run found nothing better.
    let mut claimed = false;
    for settings in SETTINGS.iter().cycle().take(RUNS) {
        let floor = found.as_ref().map_or(at_least, |(rate, _)| rate * (1.0 + ABOVE));
        let program = Program::build(router, equal, floor, clear, effort.binaries);
        let outcome =
            program.map_or(Outcome::Unknown, |program| program.solve(router, effort, settings, time_left));
        let agrees = match outcome {
            Outcome::Unknown => break,
            Outcome::None => true,
            Outcome::Best(placement, bound) => {
                let even = equal_shares(router.model.servers.len());
                let placement = router.with_results(placement, &even);
                let rate = starts::rate(router, &placement, equal).rate;
                let best = found.as_ref().map_or(0.0, |(rate, _)| *rate);
                if rate > best * (1.0 + ABOVE) {
                    claimed = bound <= rate * (1.0 + SAME);
                    found = Some((rate, placement));
                    continue;
                }
                bound <= best * (1.0 + SAME)
            }
        };
        if !agrees {
            break;
        }
        if claimed {
            return found.map_or(Answer::None, |(_, placement)| Answer::Best { placement, proven: true });
        }
        claimed = true;
    }
    found.map_or(Answer::Unknown, |(_, placement)| Answer::Best { placement, proven: false })
}

struct Program {
    variables: ProblemVariables,
    rows: Vec<good_lp::Constraint>,
    /// Load of each resource: servers with their products.
    loads: BTreeMap<Resource, Vec<(usize, Variable)>>,
    /// F_s in units of `unit`.
    sending: Vec<Variable>,
    /// U_s: the most that each server could be sent alone, in that unit.
    most: Vec<f64>,
    /// The largest of them, bit/s.
    unit: f64,
    classes: Vec<Class>,
    routes: Vec<Vec<Route>>,
    trunks: Vec<Vec<TrunkRoute>>,
    trees: Vec<TreeWays>,
}

/// The links that a tree of results may have: those with a variable only where that is 1.
struct TreeWays {
    /// Whether each arc is usable.
    usable: Vec<bool>,
    used: BTreeMap<Arc, Variable>,
}

impl Program {
    fn build(
        router: &Router<'_>,
        equal: bool,
        at_least: f64,
        clear: bool,
        most_binaries: usize,
    ) -> Option<Self> {
        let model = router.model;
        let mut most: Vec<f64> = bounds::alone(model);
        if equal {
            let least = most.iter().copied().fold(f64::INFINITY, f64::min);
            most.fill(least);
        }
        let unit = most.iter().copied().fold(0.0, f64::max);
        most.iter_mut().for_each(|u| *u /= unit);
        let (at_least, uplink) = (at_least / unit, model.min_uplink_bps() / unit);
        let total: f64 = most.iter().sum();
        let mut variables = ProblemVariables::new();
        // This server must receive at least the remainder of the other servers' limits.
        let least = |u: f64| (at_least - (total - u)).clamp(0.0, u);
        let sending = most.iter().map(|&u| variables.add(variable().min(least(u)).max(u))).collect();
        let mut program = Program {
            variables,
            rows: Vec::new(),
            loads: BTreeMap::new(),
            sending,
            most,
            unit,
            classes: classes(model),
            routes: Vec::new(),
            trunks: Vec::new(),
            trees: Vec::new(),
        };
        let mut left = most_binaries;
        for s in 0..program.most.len() {
            // No unit of a shard fits a link with less than the shard's least rate.
            let most = program.most[s];
            program.add_server(router, s, least(most) * unit * (1.0 - 1e-6), &mut left)?;
            if clear {
                program.exclude_shared_links(s);
            }
        }
        let rate = program.rate();
        program.rows.push(rate.clone().geq(at_least));
        if uplink < total {
            program.rows.push(rate.leq(uplink));
        }
        if equal {
            let pairs: Vec<_> = program.sending.windows(2).map(|pair| (pair[0] - pair[1]).eq(0.0)).collect();
            program.rows.extend(pairs);
        }
        program.add_results(router, &least, &mut left)?;
        program.limit_loads(model);
        Some(program)
    }

    /// f in units of [`Program::unit`].
    fn rate(&self) -> Expression {
        self.sending.iter().sum()
    }

    /// Adds a row per resource that could be overloaded.
    fn limit_loads(&mut self, model: &Model<'_>) {
        for (resource, terms) in std::mem::take(&mut self.loads) {
            let capacity = model.capacity_of(resource) / self.unit;
            if terms.iter().map(|&(s, _)| self.most[s]).sum::<f64>() > capacity {
                let load: Expression = terms.into_iter().map(|(_, rate)| rate).sum();
                self.rows.push(load.leq(capacity));
            }
        }
    }

    /// b in {0, 1} and P >= F - U (1 - b), P <= U b.
    fn product(&mut self, s: usize) -> (Variable, Variable) {
        let most = self.most[s];
        let chosen = self.variables.add(variable().binary());
        let rate = self.variables.add(variable().min(0.0).max(most));
        self.rows.push((rate - self.sending[s] - most * chosen).geq(-most));
        self.rows.push((rate - most * chosen).leq(0.0));
        (chosen, rate)
    }

    fn load(&mut self, resource: Resource, s: usize, rate: Variable) {
        self.loads.entry(resource).or_default().push((s, rate));
    }

    /// Adds a server's shard; `None` if that takes more binaries than are left.
    fn add_server(&mut self, router: &Router<'_>, s: usize, least: f64, left: &mut usize) -> Option<()> {
        let model = router.model;
        let usable = |arc: u32| model.capacity_of(arc) >= least;
        let server = model.servers[s];
        let mut trunks: Vec<TrunkRoute> = Vec::new();
        for &v in &model.aggregators {
            let paths = router.routes.all_paths(v, server, *left, &usable)?;
            *left = left.checked_sub(paths.len())?;
            for path in paths {
                let (used, rate) = self.product(s);
                self.load(model.own(server), s, rate);
                path.iter().for_each(|&arc| self.load(arc, s, rate));
                trunks.push(TrunkRoute { v, path, used, rate });
            }
        }
        // At most one path per trunk.
        for group in trunks.chunk_by(|a, b| a.v == b.v) {
            let used: Expression = group.iter().map(|route| route.used).sum();
            self.rows.push(used.leq(1.0));
        }
        let mut routes: Vec<Route> = Vec::new();
        for class in 0..self.classes.len() {
            let size = self.classes[class].workers.len();
            let first = model.workers[self.classes[class].workers[0]];
            let (mut everyone, mut whole) = (Expression::default(), Expression::default());
            let ends = trunks
                .chunk_by(|a, b| a.v == b.v)
                .map(|group| group[0].v)
                .chain([server])
                .collect::<Vec<_>>();
            for end in ends {
                // Merged workers share all links except their own uplink, whose row is f <= B(uplink).
                for path in router.routes.all_paths(first, end, *left / size, &usable)? {
                    *left = left.checked_sub(size)?;
                    let (count, rates): (Vec<_>, Vec<_>) = (0..size).map(|_| self.product(s)).unzip();
                    for (&chosen, &rate) in count.iter().zip(&rates) {
                        everyone += chosen;
                        whole += rate;
                        self.load(model.own(end), s, rate);
                        let shared = if size > 1 { &path[1..] } else { &path[..] };
                        shared.iter().for_each(|&arc| self.load(arc, s, rate));
                    }
                    for pair in count.windows(2).chain(rates.windows(2)) {
                        self.rows.push((pair[0] - pair[1]).geq(0.0));
                    }
                    if end != server {
                        let group = || trunks.iter().filter(|route| route.v == end);
                        let used: Expression = group().map(|route| route.used).sum();
                        let partial: Expression = group().map(|route| route.rate).sum();
                        self.rows.push((used - count[0]).geq(0.0));
                        self.rows.push((partial - rates[0]).geq(0.0));
                    }
                    routes.push(Route { class, end, path, count });
                }
            }
            self.rows.push(everyone.eq(size as f64));
            self.rows.push((whole - size as f64 * self.sending[s]).eq(0.0));
        }
        self.routes.push(routes);
        self.trunks.push(trunks);
        Some(())
    }

    /// The trees of results.
    fn add_results(
        &mut self,
        router: &Router<'_>,
        least: &dyn Fn(f64) -> f64,
        left: &mut usize,
    ) -> Option<()> {
        let trees = Steiner::of_job(router);
        let model = router.model;
        let results: f64 = self.most.iter().sum();
        let carried = |(resource, terms): (&Resource, &Vec<(usize, Variable)>)| {
            (*resource, terms.iter().map(|&(s, _)| self.most[s]).sum::<f64>())
        };
        let carried: BTreeMap<Resource, f64> = self.loads.iter().map(carried).collect();
        let binds = |arc: Arc| {
            let most = carried.get(&arc).copied().unwrap_or(0.0) + results;
            most > model.capacity_of(arc) / self.unit
        };
        let bound: Vec<bool> = (0..model.arcs() as Arc).map(binds).collect();
        for (s, tree) in trees.iter().enumerate() {
            let fits = least(self.most[s]) * self.unit * (1.0 - 1e-6);
            let mut of_server = TreeWays { usable: vec![false; model.arcs()], used: BTreeMap::new() };
            let mut arcs: Vec<(Arc, Option<Variable>)> = Vec::new();
            for arc in tree.arcs().filter(|&arc| model.capacity_of(arc) >= fits) {
                of_server.usable[arc as usize] = true;
                let rate = if bound[arc as usize] {
                    *left = left.checked_sub(1)?;
                    let (used, rate) = self.product(s);
                    self.load(arc, s, rate);
                    of_server.used.insert(arc, used);
                    Some(rate)
                } else {
                    None
                };
                arcs.push((arc, rate));
            }
            for &terminal in &tree.terminals {
                self.add_flow(model, s, (tree.root, terminal), &arcs);
            }
            self.trees.push(of_server);
        }
        Some(())
    }

    /// Adds a flow of F_s to one terminal, on every arc within the tree's capacity there.
    fn add_flow(
        &mut self,
        model: &Model<'_>,
        s: usize,
        (root, terminal): (NodeIx, NodeIx),
        arcs: &[(Arc, Option<Variable>)],
    ) {
        let mut balance: BTreeMap<NodeIx, Expression> = BTreeMap::new();
        for &(arc, rate) in arcs {
            let flow = self.variables.add(variable().min(0.0).max(self.most[s]));
            self.rows.extend(rate.map(|rate| (rate - flow).geq(0.0)));
            *balance.entry(model.tail(arc)).or_default() -= flow;
            *balance.entry(model.head(arc)).or_default() += flow;
        }
        balance.remove(&root);
        let arrives = balance.remove(&terminal).unwrap_or_default();
        self.rows.push((arrives - self.sending[s]).eq(0.0));
        self.rows.extend(balance.into_values().map(|sum| sum.eq(0.0)));
    }

    /// Excludes a flow's route together with a trunk's route that shares a link with it.
    fn exclude_shared_links(&mut self, s: usize) {
        for route in &self.routes[s] {
            for trunk in self.trunks[s].iter().filter(|trunk| trunk.v == route.end) {
                if trunk.path.iter().any(|arc| route.path.contains(arc)) {
                    self.rows.push((route.count[0] + trunk.used).leq(1.0));
                }
            }
        }
    }

    fn solve(
        self,
        router: &Router<'_>,
        effort: Effort,
        settings: &Settings,
        time_left: &dyn Fn() -> f64,
    ) -> Outcome {
        let model = router.model;
        let objective = self.rate();
        let Program { variables, rows, unit, classes, routes, trunks, trees, .. } = self;
        let mut problem = variables
            .maximise(objective.clone())
            .using(highs)
            .set_threads(1)
            .set_option("presolve", settings.presolve)
            .set_option("random_seed", settings.seed)
            .set_option("mip_rel_gap", 1e-7)
            .set_option("mip_abs_gap", 1e-9)
            .set_option("mip_feasibility_tolerance", TOLERANCE)
            .set_option("mip_max_nodes", effort.nodes);
        let seconds = time_left();
        if seconds <= 0.0 {
            return Outcome::Unknown;
        }
        if seconds.is_finite() {
            problem = problem.set_time_limit(seconds);
        }
        for row in rows {
            problem.add_constraint(row);
        }
        let solution = match problem.solve() {
            Ok(solution) if !matches!(solution.status(), good_lp::solvers::SolutionStatus::TimeLimit) => {
                solution
            }
            Err(ResolutionError::Infeasible) => return Outcome::None,
            _ => return Outcome::Unknown,
        };
        let bound = solution.eval(objective) * unit;
        let is_set = |variable: Variable| solution.value(variable) > 0.5;
        let mut placement = Placement::default();
        for (s, &server) in model.servers.iter().enumerate() {
            let mut flows = vec![FlowTo { end: server, path: Path::default() }; model.workers.len()];
            for (at, class) in classes.iter().enumerate() {
                let mut workers = class.workers.iter();
                for route in routes[s].iter().filter(|route| route.class == at) {
                    let count = route.count.iter().filter(|&&b| is_set(b)).count();
                    for &w in workers.by_ref().take(count) {
                        let mut path = route.path.to_vec();
                        if class.workers.len() > 1 {
                            path[0] = model.arcs_out(model.workers[w])[0].0;
                        }
                        flows[w] = FlowTo { end: route.end, path: path.into() };
                    }
                }
            }
            let needed = |v: NodeIx| flows.iter().any(|flow| flow.end == v);
            let of_server = trunks[s].iter().filter(|route| is_set(route.used) && needed(route.v));
            placement.trunks.push(of_server.map(|route| (route.v, route.path.clone())).collect());
            placement.flows.push(flows);
        }
        for (s, routes) in trees.iter().enumerate() {
            let is_used = |arc: Arc| routes.used.get(&arc).is_none_or(|&used| is_set(used));
            let has = |arc: Arc| routes.usable[arc as usize] && is_used(arc);
            let trees = &router.widest().trees;
            // A shard at rate 0 may lack a tree: any will do. The controller installs those over first links
            // only.
            let second = |arc| if trees.is_second(arc) { 1e-3 } else { 0.0 };
            let cost = |arc: Arc| if has(arc) { second(arc) } else { 1.0 };
            placement.results.push(trees.grow(s, &[], cost));
        }
        Outcome::Best(placement, bound)
    }
}
