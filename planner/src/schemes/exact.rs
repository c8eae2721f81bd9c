//! Eq. (1) itself, as a mixed-integer program for HiGHS; for small networks.
//!
//! Eq. (1) in the paper's names, as the readings repair it (E1 to E5), beside what stands for it here:
//!
//! | paper | here |
//! |---|---|
//! | max f; f = sum_s F_s, F_s = f x_s | `sending`: F_s; equal shares: all the same |
//! | y^{s,w}, y_v^{s,w} in {0,1} with q_p: sum_p q_p^{s,w} = y^{s,w}, sum_p q_p^{s,v,w} = y_v^{s,w} | a `Way` per (s, rack, end, p): how many of the rack's workers take it, in unary: b_k = 1 if n >= k |
//! | y^{s,w} + sum_v y_v^{s,w} = 1 | the counts of a rack's ways to s sum to its workers |
//! | z_v^s in {0,1}, sum_p q_p^{s,v} = z_v^s | a `TrunkWay` per (s, v, p): t_p = 1 for the one path in use |
//! | y_v^{s,w} <= z_v^s | b_1 of every way to v <= sum_p t_p |
//! | switch v: sum_s F_s sum_w y_v^{s,w} <= C(v) - c(v) | `loads`, a row per resource: products F_s b_k are P_k >= F_s - U_s (1 - b_k), U_s bounds F_s; likewise F_s t_p |
//! | server s: F_s (sum_w y^{s,w} + sum_v z_v^s) <= B(s) - b(s) | the same, with B(s) - b(s) |
//! | link e: sum_s F_s (q over e) <= B(e) - b(e), each direction | the same |
//!
//! Workers of a rack are interchangeable in all of these rows, hence counts.

use std::collections::BTreeMap;

use good_lp::{
    Expression, ProblemVariables, ResolutionError, Solution, SolverModel, Variable, highs, variable,
};

use crate::bounds;
use crate::classes::{Class, classes};
use crate::model::{Model, NodeIx, Resource};
use crate::placement::{FlowTo, Placement};
use crate::plan::WORKERS_PER_SUM;
use crate::router::Router;
use crate::routes::Path;

/// What the program says about plans at or above a rate.
pub(crate) enum Answer {
    /// The best plan there is.
    Best(Placement),
    /// No plan reaches that rate.
    None,
    /// The search gave up: too large, or more nodes than allowed.
    Unknown,
}

/// Effort: programs with more binaries are not started, searches with more nodes or that take longer are given up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub binaries: usize,
    pub nodes: i32,
    pub seconds: f64,
}

/// One way of a rack's flows: an end, a path, and its unary count.
struct Way {
    class: usize,
    end: NodeIx,
    path: Path,
    count: Vec<Variable>,
}

/// One way of a trunk.
struct TrunkWay {
    v: NodeIx,
    path: Path,
    used: Variable,
    rate: Variable,
}

/// Finds the best plan over the router's paths whose rate is at least `at_least` bit/s. `clear`: only plans whose passes switches can
/// tell apart, that is, no worker's flow takes a link that the trunk of its group takes.
pub(crate) fn solve(router: &Router<'_>, equal: bool, at_least: f64, clear: bool, effort: Effort) -> Answer {
    // The program counts one sum per group.
    if router.model.workers.len() > WORKERS_PER_SUM {
        return Answer::Unknown;
    }
    let Some(program) = Program::build(router, equal, at_least, clear, effort.binaries) else {
        return Answer::Unknown;
    };
    program.solve(router.model, effort)
}

struct Program {
    variables: ProblemVariables,
    rows: Vec<good_lp::Constraint>,
    loads: BTreeMap<Resource, Expression>,
    sending: Vec<Variable>,
    classes: Vec<Class>,
    ways: Vec<Vec<Way>>,
    trunks: Vec<Vec<TrunkWay>>,
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
        let unit = model.min_uplink_bps();
        let mut most: Vec<f64> = bounds::alone(model).iter().map(|f| f / unit).collect();
        if equal {
            let least = most.iter().copied().fold(f64::INFINITY, f64::min);
            most.fill(least);
        }
        let total: f64 = most.iter().sum();
        let mut variables = ProblemVariables::new();
        // Whatever the other servers leave open is the least this one must get.
        let least = |s: usize| (at_least / unit - (total - most[s])).max(0.0);
        let sending: Vec<Variable> = most
            .iter()
            .enumerate()
            .map(|(s, &u)| variables.add(variable().min(least(s).min(u)).max(u)))
            .collect();
        let mut program = Program {
            variables,
            rows: Vec::new(),
            loads: BTreeMap::new(),
            sending,
            classes: classes(model),
            ways: Vec::new(),
            trunks: Vec::new(),
        };
        let mut left = most_binaries;
        for (s, &most) in most.iter().enumerate() {
            // No unit of a shard fits a link with less than the shard's least rate.
            let least = least(s).min(most) * unit * (1.0 - 1e-6);
            program.add_server(router, s, (least, most), &mut left)?;
            if clear {
                program.tell_apart(s);
            }
        }
        let all: Expression = program.sending.iter().sum();
        program.rows.push(all.clone().leq(model.min_uplink_bps() / unit));
        program.rows.push(all.geq(at_least / unit));
        if equal {
            let pairs: Vec<_> = program.sending.windows(2).map(|pair| (pair[0] - pair[1]).eq(0.0)).collect();
            program.rows.extend(pairs);
        }
        for (resource, load) in std::mem::take(&mut program.loads) {
            let capacity = model.capacity_of(resource);
            if capacity.is_finite() {
                program.rows.push(load.leq(capacity / unit));
            }
        }
        Some(program)
    }

    /// b in {0, 1} and P >= F - U (1 - b).
    fn product(&mut self, s: usize, most: f64) -> (Variable, Variable) {
        let chosen = self.variables.add(variable().binary());
        let rate = self.variables.add(variable().min(0.0).max(most));
        self.rows.push((rate - self.sending[s] - most * chosen).geq(-most));
        self.rows.push((rate - most * chosen).leq(0.0));
        (chosen, rate)
    }

    fn load(&mut self, resource: Resource, rate: Variable) {
        self.loads.entry(resource).or_default().add_mul(1.0, rate);
    }

    /// Adds a server's shard; `None` if that takes more binaries than are left.
    fn add_server(
        &mut self,
        router: &Router<'_>,
        s: usize,
        (least, most): (f64, f64),
        left: &mut usize,
    ) -> Option<()> {
        let model = router.model;
        let usable = |arc: u32| model.capacity_of(arc) >= least;
        let server = model.servers[s];
        let mut trunks: Vec<TrunkWay> = Vec::new();
        for &v in &model.aggregators {
            let paths = router.routes.all_paths(v, server, *left, &usable)?;
            *left = left.checked_sub(paths.len())?;
            for path in paths {
                let (used, rate) = self.product(s, most);
                self.load(model.own(server), rate);
                path.iter().for_each(|&arc| self.load(arc, rate));
                trunks.push(TrunkWay { v, path, used, rate });
            }
        }
        // At most one path per trunk.
        for group in trunks.chunk_by(|a, b| a.v == b.v) {
            let used: Expression = group.iter().map(|way| way.used).sum();
            self.rows.push(used.leq(1.0));
        }
        let mut ways: Vec<Way> = Vec::new();
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
                // Merged workers share all but their own uplink, whose row is f <= B(uplink).
                for path in router.routes.all_paths(first, end, *left / size, &usable)? {
                    *left = left.checked_sub(size)?;
                    let (count, rates): (Vec<_>, Vec<_>) = (0..size).map(|_| self.product(s, most)).unzip();
                    for (&chosen, &rate) in count.iter().zip(&rates) {
                        everyone += chosen;
                        whole += rate;
                        self.load(model.own(end), rate);
                        let shared = if size > 1 { &path[1..] } else { &path[..] };
                        shared.iter().for_each(|&arc| self.load(arc, rate));
                    }
                    for pair in count.windows(2).chain(rates.windows(2)) {
                        self.rows.push((pair[0] - pair[1]).geq(0.0));
                    }
                    if end != server {
                        let group = || trunks.iter().filter(|way| way.v == end);
                        let used: Expression = group().map(|way| way.used).sum();
                        let partial: Expression = group().map(|way| way.rate).sum();
                        self.rows.push((used - count[0]).geq(0.0));
                        self.rows.push((partial - rates[0]).geq(0.0));
                    }
                    ways.push(Way { class, end, path, count });
                }
            }
            self.rows.push(everyone.eq(size as f64));
            self.rows.push((whole - size as f64 * self.sending[s]).eq(0.0));
        }
        self.ways.push(ways);
        self.trunks.push(trunks);
        Some(())
    }

    /// No way of a flow together with a way of its trunk that has a link in common with it.
    fn tell_apart(&mut self, s: usize) {
        for way in &self.ways[s] {
            for trunk in self.trunks[s].iter().filter(|trunk| trunk.v == way.end) {
                if trunk.path.iter().any(|arc| way.path.contains(arc)) {
                    self.rows.push((way.count[0] + trunk.used).leq(1.0));
                }
            }
        }
    }

    fn solve(self, model: &Model<'_>, effort: Effort) -> Answer {
        let Program { variables, rows, sending, classes, ways, trunks, .. } = self;
        let objective: Expression = sending.iter().sum();
        let mut problem = variables
            .maximise(objective)
            .using(highs)
            .set_threads(1)
            .set_option("mip_rel_gap", 1e-7)
            .set_option("mip_abs_gap", 1e-9)
            .set_option("mip_feasibility_tolerance", 1e-9)
            .set_option("mip_max_nodes", effort.nodes);
        if effort.seconds.is_finite() {
            problem = problem.set_time_limit(effort.seconds);
        }
        for row in rows {
            problem.add_constraint(row);
        }
        let solution = match problem.solve() {
            Ok(solution) if !matches!(solution.status(), good_lp::solvers::SolutionStatus::TimeLimit) => {
                solution
            }
            Err(ResolutionError::Infeasible) => return Answer::None,
            _ => return Answer::Unknown,
        };
        let is_set = |variable: Variable| solution.value(variable) > 0.5;
        let mut placement = Placement::default();
        for (s, &server) in model.servers.iter().enumerate() {
            let mut flows = vec![FlowTo { end: server, path: Path::default() }; model.workers.len()];
            for (at, class) in classes.iter().enumerate() {
                let mut workers = class.workers.iter();
                for way in ways[s].iter().filter(|way| way.class == at) {
                    let count = way.count.iter().filter(|&&b| is_set(b)).count();
                    for &w in workers.by_ref().take(count) {
                        let mut path = way.path.to_vec();
                        if class.workers.len() > 1 {
                            path[0] = model.arcs_out(model.workers[w])[0].0;
                        }
                        flows[w] = FlowTo { end: way.end, path: path.into() };
                    }
                }
            }
            let needed = |v: NodeIx| flows.iter().any(|flow| flow.end == v);
            let of_server = trunks[s].iter().filter(|way| is_set(way.used) && needed(way.v));
            placement.trunks.push(of_server.map(|way| (way.v, way.path.clone())).collect());
            placement.flows.push(flows);
        }
        Answer::Best(placement)
    }
}
