//! LP-InArt, Eq. (5) as the readings repair it, by HiGHS through good_lp.
//!
//! Linear because every y, z, q is multiplied by F_s (so F_s itself is a variable, and x = F / f is free, or fixed by
//! F_s = f x_s). Workers of a rack are merged, and the path variables q become one flow per destination
//! over the arcs of its shortest paths, which is the same polytope: flows to one destination need no path names.
//!
//! Eq. (5) in the paper's names, beside what stands for it here (E1 to E5 of the readings repaired, times F_s):
//!
//! | paper | here |
//! |---|---|
//! | max f; f = sum_s F_s, F_s = f x_s | `sending`; x fixed adds F_s = x_s sum F |
//! | y^{s,w} + sum_v y_v^{s,w} = 1 | sum over `ends[s][rack]` = F_s |
//! | y_v^{s,w} <= z_v^s | y - z <= 0, per rack |
//! | sum_p q_p^{s,w} = y^{s,w}, sum_p q_p^{s,v,w} = y_v^{s,w}, sum_p q_p^{s,v} = z_v^s | conservation of `flow` at every node |
//! | switch v: sum_s F_s sum_w y_v^{s,w} <= C(v) - c(v) | `switch_rows` |
//! | server s: F_s (sum_w y^{s,w} + sum_v z_v^s) <= B(s) - b(s) | `intake` |
//! | link e: sum_s F_s (q over e) <= B(e) - b(e), each direction | `links`; a worker's only uplink as f <= B(e) - b(e) |

use good_lp::solvers::SolutionStatus;
use good_lp::solvers::highs::HighsSolverType;
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, highs, variable};
use rustc_hash::FxHashMap;

use crate::classes::classes;
use crate::fractional::{Fractional, Spread};
use crate::model::{Arc, Model, NodeIx};
use crate::routes::{FAR, Routes};

/// Above so many columns interior point beats the simplex method, by 5 to 30 times on link-bound instances.
const SIMPLEX_COLUMNS: usize = 2000;

/// Solves Eq. (5), with x_s free or fixed; `None` if that takes longer than `time_left` says.
pub(crate) fn solve(
    model: &Model<'_>,
    routes: &Routes<'_>,
    fixed: Option<&[f64]>,
    time_left: &dyn Fn() -> f64,
) -> Result<Option<Fractional>, String> {
    let program = Program::build(model, routes, fixed);
    match time_left() {
        left if left <= 0.0 => Ok(None),
        left => match program.solve(model, left) {
            // The solver's error for a time limit says only that it has no solution.
            Err(_) if time_left() <= 0.0 => Ok(None),
            solved => solved.map(Some),
        },
    }
}

/// A sum of terms, collected before it becomes a row.
type Terms = Vec<(Variable, f64)>;

struct Program {
    variables: ProblemVariables,
    rows: Vec<good_lp::Constraint>,
    /// F_s.
    sending: Vec<Variable>,
    classes: Vec<crate::classes::Class>,
    /// Y, `[server][class]` by end.
    ends: Vec<Vec<Vec<(NodeIx, Variable)>>>,
    /// Flow towards a destination on an arc.
    flow: FxHashMap<(NodeIx, Arc), Variable>,
    unit: f64,
}

impl Program {
    fn build(model: &Model<'_>, routes: &Routes<'_>, fixed: Option<&[f64]>) -> Self {
        // Rates in units of a typical capacity keep the solver's absolute tolerances meaningful.
        let unit = model.min_uplink_bps();
        let mut variables = ProblemVariables::new();
        let mut positive = || variables.add(variable().min(0.0));
        let mut rows = Vec::new();
        let servers = model.servers.len();
        let classes = classes(model);
        let sending: Vec<Variable> = (0..servers).map(|_| positive()).collect();
        let mut switch_rows: FxHashMap<NodeIx, Terms> = FxHashMap::default();
        // What enters the flow towards each destination at each node.
        let mut inputs: FxHashMap<(NodeIx, NodeIx), Terms> = FxHashMap::default();
        let mut ends = Vec::with_capacity(servers);
        for (s, &server) in model.servers.iter().enumerate() {
            let mut intake: Terms = Vec::new();
            let mut partial: FxHashMap<NodeIx, Variable> = FxHashMap::default();
            let mut of_class = Vec::with_capacity(classes.len());
            for &v in model.aggregators.iter().filter(|&&v| routes.hops(v, server) != FAR) {
                let z = positive();
                partial.insert(v, z);
                intake.push((z, 1.0));
                inputs.entry((server, v)).or_default().push((z, 1.0));
            }
            for class in &classes {
                let size = class.workers.len() as f64;
                let direct = positive();
                intake.push((direct, size));
                inputs.entry((server, class.source)).or_default().push((direct, size));
                let mut list = vec![(server, direct)];
                for (&v, &z) in &partial {
                    if routes.hops(class.source, v) == FAR {
                        continue;
                    }
                    let y = positive();
                    list.push((v, y));
                    rows.push(sum(&[(y, 1.0), (z, -1.0)]).leq(0.0));
                    switch_rows.entry(v).or_default().push((y, size));
                    inputs.entry((v, class.source)).or_default().push((y, size));
                }
                let mut whole: Terms = list.iter().map(|&(_, y)| (y, 1.0)).collect();
                whole.push((sending[s], -1.0));
                rows.push(sum(&whole).eq(0.0));
                of_class.push(list);
            }
            let capacity = model.capacity_of(model.own(server));
            if capacity.is_finite() {
                rows.push(sum(&intake).leq(capacity / unit));
            }
            ends.push(of_class);
        }
        for (v, terms) in switch_rows {
            rows.push(sum(&terms).leq(model.capacity_of(model.own(v)) / unit));
        }
        let all: Terms = sending.iter().map(|&f| (f, 1.0)).collect();
        // Single-homed workers: their one uplink carries the whole gradient.
        rows.push(sum(&all).leq(model.min_uplink_bps() / unit));
        for (s, &share) in fixed.unwrap_or_default().iter().enumerate() {
            let mut terms: Terms = sending.iter().map(|&f| (f, share)).collect();
            terms[s].1 -= 1.0;
            rows.push(sum(&terms).eq(0.0));
        }
        let mut program =
            Program { variables, rows, sending, classes, ends, flow: FxHashMap::default(), unit };
        program.add_flows(model, routes, inputs);
        program
    }

    /// Conservation of the flow towards every destination over its shortest-path arcs, and the link rows.
    fn add_flows(
        &mut self,
        model: &Model<'_>,
        routes: &Routes<'_>,
        inputs: FxHashMap<(NodeIx, NodeIx), Terms>,
    ) {
        let mut destinations: Vec<NodeIx> = inputs.keys().map(|&(to, _)| to).collect();
        destinations.sort_unstable();
        destinations.dedup();
        let mut links: FxHashMap<Arc, Terms> = FxHashMap::default();
        for to in destinations {
            let hops = routes.hops_to(to);
            let mut balance: FxHashMap<NodeIx, Terms> = FxHashMap::default();
            let mut open: Vec<NodeIx> = Vec::new();
            for ((_, from), terms) in inputs.iter().filter(|((towards, _), _)| *towards == to) {
                if *from != to {
                    balance.entry(*from).or_default().extend(terms);
                    open.push(*from);
                }
            }
            let mut seen: rustc_hash::FxHashSet<NodeIx> = open.iter().copied().collect();
            while let Some(node) = open.pop() {
                for (arc, ahead) in routes.closer(node, hops) {
                    let flow = self.variables.add(variable().min(0.0));
                    self.flow.insert((to, arc), flow);
                    links.entry(arc).or_default().push((flow, 1.0));
                    balance.entry(node).or_default().push((flow, -1.0));
                    if ahead != to {
                        balance.entry(ahead).or_default().push((flow, 1.0));
                        if seen.insert(ahead) {
                            open.push(ahead);
                        }
                    }
                }
            }
            self.rows.extend(balance.into_values().map(|terms| sum(&terms).eq(0.0)));
        }
        let limit = |arc: Arc| model.capacity_of(arc) / self.unit;
        self.rows.extend(links.into_iter().map(|(arc, terms)| sum(&terms).leq(limit(arc))));
    }

    fn solve(self, model: &Model<'_>, seconds: f64) -> Result<Fractional, String> {
        let Program { variables, rows, sending, classes, ends, flow, unit } = self;
        let method =
            if variables.len() > SIMPLEX_COLUMNS { HighsSolverType::Ipm } else { HighsSolverType::Simplex };
        let objective: Expression = sending.iter().sum();
        let mut problem = variables.maximise(objective).using(highs).set_solver(method).set_threads(1);
        if seconds.is_finite() {
            problem = problem.set_time_limit(seconds);
        }
        for row in rows {
            problem.add_constraint(row);
        }
        let solution = problem.solve().map_err(|error| error.to_string())?;
        if matches!(solution.status(), SolutionStatus::TimeLimit) {
            return Err("iteration or time limit".to_owned());
        }
        let value = |variable: Variable| solution.value(variable).max(0.0) * unit;
        let sending: Vec<f64> = sending.into_iter().map(value).collect();
        let positive = |list: Vec<(NodeIx, Variable)>| -> Vec<(NodeIx, f64)> {
            list.into_iter().map(|(end, y)| (end, value(y))).filter(|&(_, y)| y > 1e-9 * unit).collect()
        };
        let ends = ends
            .into_iter()
            .enumerate()
            .map(|(s, lists)| {
                let fallback = |list: Vec<(NodeIx, f64)>| {
                    if list.is_empty() { vec![(model.servers[s], 1.0)] } else { list }
                };
                lists.into_iter().map(positive).map(fallback).collect()
            })
            .collect();
        let spread = Spread::Flow(flow.into_iter().map(|(key, variable)| (key, value(variable))).collect());
        Ok(Fractional { rate: sending.iter().sum(), sending, classes, ends, spread })
    }
}

fn sum(terms: &[(Variable, f64)]) -> Expression {
    let mut expression = Expression::with_capacity(terms.len());
    for &(variable, factor) in terms {
        expression.add_mul(factor, variable);
    }
    expression
}
