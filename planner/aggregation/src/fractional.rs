//! A solution of the relaxation LP-InArt, Eq. (5): the fractional y, z and q that Alg. 2 rounds.

use rustc_hash::FxHashMap;

use crate::classes::{Class, classes};
use crate::model::{Arc, Model, NodeIx};
use crate::phase1::{self, Split};
use crate::router::Router;

/// Trees of results per server that are mixed to show that links carry them, tried in this order.
const MIXTURES: [usize; 3] = [1, 4, 16];

/// Fractional ends of every class's flows, and how they are spread over paths.
#[derive(Debug, Clone)]
pub(crate) struct Fractional {
    /// Rate f~, bit/s.
    pub rate: f64,
    /// Upper bound on the rate of every solution, bit/s: proven by the LP's prices, independent of its
    /// solver's tolerances.
    pub proven: f64,
    /// F_s, bit/s.
    pub sending: Vec<f64>,
    /// Racks.
    pub classes: Vec<Class>,
    /// `[server][class]`: ends (aggregators, or the server) with their Y = F_s y; each list sums to F_s.
    pub ends: Vec<Vec<Vec<(NodeIx, f64)>>>,
    /// Distribution of flows over the shortest paths.
    pub spread: Spread,
}

/// The fractional q.
#[derive(Debug, Clone)]
pub(crate) enum Spread {
    /// Evenly over the next hops of shortest paths (ECMP).
    Even,
    /// Proportional to the flow towards each destination on each arc.
    Flow(FxHashMap<(NodeIx, Arc), f64>),
}

impl Spread {
    pub fn weight(&self, to: NodeIx, arc: Arc) -> f64 {
        match self {
            Spread::Even => 1.0,
            Spread::Flow(flow) => flow.get(&(to, arc)).copied().unwrap_or(0.0),
        }
    }
}

/// Returns the closed form as a solution of Eq. (5), certified by even routing: if no link overflows, the
/// upper bound of phase 1 is attained, so this is an LP optimum, found without an LP. `None` if a link
/// overflows.
///
/// All workers share one distribution (z = y, so z causes no loss). Switches are assigned to servers one
/// after the other (a vertex of that transport polytope, which rounds far better than an even mix), else
/// proportionally.
pub(crate) fn certified(router: &Router<'_>, fixed: Option<&[f64]>) -> Option<Fractional> {
    let model = router.model;
    let split = phase1::split(model, fixed);
    let vertex = one_after_the_other(model, &split);
    [vertex, in_proportion(model, &split)].into_iter().find_map(|given| {
        let solution = assemble(model, &split, &given);
        fits_links(router, &solution).then_some(solution)
    })
}

/// The closed form spread evenly over switches and paths, whether or not the links carry it: no optimum where
/// they do not, but quick, and a start for [`crate::schemes::optimized::expectations`].
pub(crate) fn guess(model: &Model<'_>, fixed: Option<&[f64]>) -> Fractional {
    let split = phase1::split(model, fixed);
    assemble(model, &split, &in_proportion(model, &split))
}

/// Y_v per worker, `[server]` -> (switch, rate).
type Given = Vec<Vec<(NodeIx, f64)>>;

fn one_after_the_other(model: &Model<'_>, split: &Split) -> Given {
    let workers = model.workers.len() as f64;
    let mut left = model
        .aggregators
        .iter()
        .map(|&v| (v, model.capacity_of(model.own(v)) / workers))
        .collect::<Vec<_>>()
        .into_iter();
    let mut open = left.next();
    let mut given: Given = vec![Vec::new(); split.aggregated.len()];
    for (list, &need) in given.iter_mut().zip(&split.aggregated) {
        let mut need = need;
        while need > 1e-9 * split.rate {
            let Some((v, room)) = open else { break };
            let taken = room.min(need);
            list.push((v, taken));
            need -= taken;
            open = if room - taken > 1e-9 * split.rate { Some((v, room - taken)) } else { left.next() };
        }
    }
    given
}

fn in_proportion(model: &Model<'_>, split: &Split) -> Given {
    let total: f64 = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).sum();
    let part = |v: NodeIx| model.capacity_of(model.own(v)) / total;
    let of_server = |need: &f64| {
        model.aggregators.iter().map(|&v| (v, need * part(v))).filter(|&(_, y)| y > 0.0).collect()
    };
    split.aggregated.iter().map(of_server).collect()
}

fn assemble(model: &Model<'_>, split: &Split, given: &Given) -> Fractional {
    let classes = classes(model);
    let of_server = |s: usize| {
        let mut list = given[s].clone();
        let direct = split.sending[s] - list.iter().map(|&(_, y)| y).sum::<f64>();
        if direct > 0.0 {
            list.push((model.servers[s], direct));
        }
        vec![list; classes.len()]
    };
    let ends = (0..model.servers.len()).map(of_server).collect();
    Fractional {
        rate: split.rate,
        proven: split.rate,
        sending: split.sending.clone(),
        classes,
        ends,
        spread: Spread::Even,
    }
}

/// Returns whether the even spread of a solution overloads no link; if results count, with a mixture of trees
/// with the fewest hops.
fn fits_links(router: &Router<'_>, solution: &Fractional) -> bool {
    let (model, routes) = (router.model, &router.routes);
    // All flows to one destination are spread together.
    let mut inputs: FxHashMap<NodeIx, FxHashMap<NodeIx, f64>> = FxHashMap::default();
    for (s, &server) in model.servers.iter().enumerate() {
        for (class, ends) in solution.classes.iter().zip(&solution.ends[s]) {
            for &(end, y) in ends {
                let inputs = inputs.entry(end).or_default();
                *inputs.entry(class.source).or_default() += y * class.workers.len() as f64;
            }
        }
        let mut partial: FxHashMap<NodeIx, f64> = FxHashMap::default();
        for &(end, y) in solution.ends[s].iter().flatten().filter(|&&(end, _)| end != server) {
            let most = partial.entry(end).or_default();
            *most = most.max(y);
        }
        for (v, z) in partial {
            *inputs.entry(server).or_default().entry(v).or_default() += z;
        }
    }
    let mut load = vec![0.0; model.arcs()];
    for (to, inputs) in inputs {
        let hops = routes.hops_to(to);
        let mut by_distance: Vec<Vec<NodeIx>> = Vec::new();
        let mut through: FxHashMap<NodeIx, f64> = FxHashMap::default();
        let enter = |node: NodeIx,
                     amount: f64,
                     by_distance: &mut Vec<Vec<NodeIx>>,
                     through: &mut FxHashMap<_, f64>| {
            let distance = hops[node as usize] as usize;
            by_distance.resize(by_distance.len().max(distance + 1), Vec::new());
            let sum = through.entry(node).or_insert_with(|| {
                by_distance[distance].push(node);
                0.0
            });
            *sum += amount;
        };
        for (from, amount) in inputs {
            if hops[from as usize] == crate::routes::FAR {
                return false;
            }
            enter(from, amount, &mut by_distance, &mut through);
        }
        for distance in (1..by_distance.len()).rev() {
            for node in std::mem::take(&mut by_distance[distance]) {
                let next: Vec<_> = routes.closer(node, hops).collect();
                let part = through[&node] / next.len() as f64;
                for (arc, ahead) in next {
                    load[arc as usize] += part;
                    enter(ahead, part, &mut by_distance, &mut through);
                }
            }
        }
    }
    let fits = |load: &[f64]| {
        load.iter().zip(&model.capacity).all(|(&used, &capacity)| used <= capacity * (1.0 + 1e-9))
    };
    if !model.counts_results() {
        return fits(&load);
    }
    fits(&load) && MIXTURES.iter().any(|&trees| fits(&with_results(router, solution, load.clone(), trees)))
}

/// Returns the load with the results of every server, in equal parts on `trees` trees: one after the other,
/// each on the least loaded links.
fn with_results(router: &Router<'_>, solution: &Fractional, mut load: Vec<f64>, trees: usize) -> Vec<f64> {
    for _ in 0..trees {
        for (s, sending) in solution.sending.iter().enumerate() {
            let part = sending / trees as f64;
            let cost = |arc: Arc| {
                let after = (load[arc as usize] + part) / router.model.capacity_of(arc);
                after.powi(8) + 1e-6 * after
            };
            let tree = router.trees.grow(s, &[], cost);
            tree.iter().for_each(|&arc| load[arc as usize] += part);
        }
    }
    load
}
