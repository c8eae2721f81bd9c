//! Eq. (5) with several jobs: one LP for all of them, including links. As in `lp`, workers of a rack are
//! merged and paths become one flow per destination over the arcs that lead to it; all jobs share switches,
//! servers and arcs. If results count, a tree of each server becomes one flow per worker's switch and a
//! common bound on these.

use std::collections::{BTreeMap, BTreeSet};

use super::fair::{Program, Row};
use crate::choices::Paths;
use crate::classes::classes;
use crate::model::{Arc, Model, NodeIx, Resource};
use crate::options::Options;
use crate::results::Trees;
use crate::routes::{FAR, Routes, Rule};
use crate::steiner::Steiner;

/// Number of columns above which the LPs take seconds.
const COLUMNS: usize = 4000;

type Terms = Vec<(usize, f64)>;

struct Builder<'m> {
    models: &'m [Model<'m>],
    rule: Rule,
    routes: Routes<'m>,
    /// Whether flows may take any path.
    detours: bool,
    program: Program,
    loads: BTreeMap<Resource, Terms>,
    /// Inflow at a node of the flow to a destination: `[destination][node]`.
    entering: BTreeMap<NodeIx, BTreeMap<NodeIx, Terms>>,
}

/// Solves the relaxation; `None` if it is too large.
pub(super) fn relaxation(models: &[Model<'_>], most: &[f64], options: &Options<'_>) -> Option<Program> {
    let columns =
        |model: &Model<'_>| (classes(model).len() + 1) * model.servers.len() * (model.aggregators.len() + 1);
    let ends: BTreeSet<NodeIx> =
        models.iter().flat_map(|m| m.servers.iter().chain(&m.aggregators)).copied().collect();
    let flows =
        ends.len() * models[0].topology.links().len() * if options.paths == Paths::Any { 2 } else { 1 };
    if models.iter().map(columns).sum::<usize>() + flows > COLUMNS {
        return None;
    }
    let program = Program { variables: 0, rates: Vec::new(), most: most.to_vec(), rows: Vec::new() };
    // The same for all: the links' capacities are.
    let rule = if options.paths == Paths::Any { Rule::Any } else { Rule::Built };
    let (routes, detours) = (Routes::new(&models[0], rule), rule == Rule::Any);
    let (loads, entering) = (BTreeMap::new(), BTreeMap::new());
    let mut builder = Builder { models, rule, routes, detours, program, loads, entering };
    models.iter().for_each(|model| builder.add_job(model, options.equal_shares));
    builder.add_flows();
    builder.add_results(COLUMNS.saturating_sub(builder.program.variables));
    Some(builder.finish())
}

impl Builder<'_> {
    fn variable(&mut self) -> usize {
        self.program.variables += 1;
        self.program.variables - 1
    }

    fn row(&mut self, terms: Terms, limit: f64, equal: bool) {
        self.program.rows.push(Row { terms, limit, equal });
    }

    fn load(&mut self, resource: Resource, variable: usize, factor: f64) {
        self.loads.entry(resource).or_default().push((variable, factor));
    }

    /// y, z and F of one job. F sums to its rate.
    fn add_job(&mut self, model: &Model<'_>, equal: bool) {
        let sending: Vec<usize> = model.servers.iter().map(|_| self.variable()).collect();
        if equal {
            sending.windows(2).for_each(|pair| self.row(vec![(pair[0], 1.0), (pair[1], -1.0)], 0.0, true));
        }
        let classes = classes(model);
        for (&f, &server) in sending.iter().zip(&model.servers) {
            let mut partial: Vec<(NodeIx, usize)> = Vec::new();
            for &v in
                model.aggregators.iter().filter(|&&v| self.routes.hops(v, server) != FAR).collect::<Vec<_>>()
            {
                let z = self.variable();
                partial.push((v, z));
                self.load(model.own(server), z, 1.0);
                self.enter(server, v, z, 1.0);
            }
            for class in &classes {
                let size = class.workers.len() as f64;
                let direct = self.variable();
                self.load(model.own(server), direct, size);
                self.enter(server, class.source, direct, size);
                let mut whole = vec![(f, -1.0), (direct, 1.0)];
                for &(v, z) in &partial {
                    if self.routes.hops(class.source, v) == FAR {
                        continue;
                    }
                    let y = self.variable();
                    whole.push((y, 1.0));
                    self.row(vec![(y, 1.0), (z, -1.0)], 0.0, false);
                    self.load(model.own(v), y, size);
                    self.enter(v, class.source, y, size);
                }
                self.row(whole, 0.0, true);
            }
        }
        // Single-homed workers were merged: each sends everything over its one link.
        for class in classes.iter().filter(|class| model.forwards(class.source)) {
            for &w in &class.workers {
                let (arc, _) = model.arcs_out(model.workers[w])[0];
                sending.iter().for_each(|&f| self.load(arc, f, 1.0));
            }
        }
        self.program.rates.push(sending);
    }

    fn enter(&mut self, to: NodeIx, from: NodeIx, variable: usize, factor: f64) {
        if from != to {
            let at = self.entering.entry(to).or_default().entry(from).or_default();
            at.push((variable, factor));
        }
    }

    /// Returns the arcs out of a node that lead to a destination on some path.
    fn ways(&self, node: NodeIx, to: NodeIx) -> Vec<(Arc, NodeIx)> {
        let hops = self.routes.hops_to(to);
        if !self.detours {
            return self.routes.closer(node, hops).collect();
        }
        let model = &self.models[0];
        let leads = |&&(_, ahead): &&(Arc, NodeIx)| {
            ahead == to || model.forwards(ahead) && hops[ahead as usize] != FAR
        };
        model.arcs_out(node).iter().filter(leads).copied().collect()
    }

    /// Conservation of the flow to every destination over the arcs of the paths to it.
    fn add_flows(&mut self) {
        for (to, mut balance) in std::mem::take(&mut self.entering) {
            let mut open: Vec<NodeIx> = balance.keys().copied().collect();
            let mut seen: BTreeSet<NodeIx> = open.iter().copied().collect();
            while let Some(node) = open.pop() {
                let ways = self.ways(node, to);
                for (arc, ahead) in ways {
                    let flow = self.variable();
                    self.load(arc, flow, 1.0);
                    balance.entry(node).or_default().push((flow, -1.0));
                    if ahead != to {
                        balance.entry(ahead).or_default().push((flow, 1.0));
                        if seen.insert(ahead) {
                            open.push(ahead);
                        }
                    }
                }
            }
            balance.into_values().for_each(|terms| self.row(terms, 0.0, true));
        }
    }

    /// Adds results: r on every arc of a server's tree, which no flow of F_s to a worker's switch exceeds.
    /// Beyond `columns` only the outflow of every server and the inflow of every worker count.
    fn add_results(&mut self, columns: usize) {
        let trees: Vec<Vec<Steiner<'_>>> =
            self.models.iter().map(|model| Steiner::all(model, &Trees::new(model, self.rule))).collect();
        let of_tree = |tree: &Steiner<'_>| (tree.terminals.len() + 1) * tree.arcs().count();
        let is_small = trees.iter().flatten().map(of_tree).sum::<usize>() <= columns;
        let sending = self.program.rates.clone();
        for (of_job, sending) in trees.iter().zip(sending) {
            for (tree, &f) in of_job.iter().zip(&sending) {
                tree.leaves.iter().for_each(|&arc| self.load(arc, f, 1.0));
                if is_small {
                    self.add_tree(tree, f);
                } else if let [(arc, _)] = tree.model.arcs_out(tree.root) {
                    self.load(*arc, f, 1.0);
                }
            }
        }
    }

    fn add_tree(&mut self, tree: &Steiner<'_>, f: usize) {
        let arcs: Vec<(Arc, usize)> = tree.arcs().map(|arc| (arc, self.variable())).collect();
        arcs.iter().for_each(|&(arc, once)| self.load(arc, once, 1.0));
        for &terminal in &tree.terminals {
            let mut balance: BTreeMap<NodeIx, Terms> = BTreeMap::new();
            for &(arc, once) in &arcs {
                let flow = self.variable();
                self.row(vec![(flow, 1.0), (once, -1.0)], 0.0, false);
                balance.entry(tree.model.tail(arc)).or_default().push((flow, -1.0));
                balance.entry(tree.model.head(arc)).or_default().push((flow, 1.0));
            }
            balance.remove(&tree.root);
            balance.entry(terminal).or_default().push((f, -1.0));
            balance.into_values().for_each(|terms| self.row(terms, 0.0, true));
        }
    }

    fn finish(mut self) -> Program {
        for (resource, terms) in std::mem::take(&mut self.loads) {
            let limit = self.models.iter().map(|model| model.capacity_of(resource)).fold(0.0, f64::max);
            if limit.is_finite() {
                self.row(terms, limit, false);
            }
        }
        self.program
    }
}
