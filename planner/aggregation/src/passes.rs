//! Passes that a switch can distinguish. A worker's share of a server may reach a switch over the same link
//! twice, on its own and in a sum; the switch distinguishes frames by input port. With one level and
//! symmetric distances, shortest paths exclude this; other plans are checked here, and repaired.

use crate::model::{Arc, Model, NodeIx};
use crate::options::Options;
use crate::placement::{FlowTo, Placement, trunk_end};
use crate::router::Router;
use crate::routes::Path;

/// Number of alternative paths for one that has to change, in addition to the one that avoids the same
/// worker's others.
const PATHS: usize = 16;

/// Returns the legs of one worker's path to a server: its flow's, then those of its sums, each with its ends.
fn legs<'p>(
    model: &Model<'_>,
    placement: &'p Placement,
    s: usize,
    w: usize,
) -> impl Iterator<Item = (NodeIx, NodeIx, &'p Path)> {
    let flow = &placement.flows[s][w];
    let trunks = &placement.trunks[s];
    let onward = |&(_, end, _): &(NodeIx, NodeIx, &'p Path)| {
        trunks.get(&end).map(|path| (end, trunk_end(model, path), path))
    };
    std::iter::successors(Some((model.workers[w], flow.end, &flow.path)), onward)
}

/// Returns the workers whose share of a server uses some link twice.
fn muddled(model: &Model<'_>, placement: &Placement, s: usize) -> Vec<usize> {
    let mut arcs: Vec<Arc> = Vec::new();
    let comes_twice = |&w: &usize| {
        if placement.flows[s][w].end == model.servers[s] {
            return false;
        }
        arcs.clear();
        arcs.extend(legs(model, placement, s, w).flat_map(|(_, _, path)| path.iter()));
        arcs.sort_unstable();
        arcs.windows(2).any(|pair| pair[0] == pair[1])
    };
    (0..model.workers.len()).filter(comes_twice).collect()
}

/// Returns whether switches can distinguish all passes.
pub(crate) fn are_clear(model: &Model<'_>, placement: &Placement) -> bool {
    (0..model.servers.len()).all(|s| muddled(model, placement, s).is_empty())
}

/// Returns the placement with other paths where shares use a link twice: of those that help, each time the
/// one that keeps the rate at these shares the highest. `None` if none does, or when the time is up.
pub(crate) fn apart(
    router: &Router<'_>,
    options: &Options<'_>,
    mut placement: Placement,
    shares: &[f64],
) -> Option<Placement> {
    for s in 0..router.model.servers.len() {
        let mut left = muddled(router.model, &placement, s);
        while let Some(&worker) = left.first() {
            if options.out_of_time() {
                return None;
            }
            (placement, left) = step(router, &placement, (s, worker), &left, shares)?;
        }
    }
    Some(placement)
}

/// Returns the repaired placement, with workers that send directly to the server (which always helps) if no
/// other path does; `None` if the placement needs no repair.
pub(crate) fn untangled(router: &Router<'_>, placement: &Placement, shares: &[f64]) -> Option<Placement> {
    let model = router.model;
    if are_clear(model, placement) {
        return None;
    }
    let mut placement = placement.clone();
    for (s, &server) in model.servers.iter().enumerate() {
        let mut left = muddled(model, &placement, s);
        while let Some(&worker) = left.first() {
            if let Some(better) = step(router, &placement, (s, worker), &left, shares) {
                (placement, left) = better;
                continue;
            }
            let path = router
                .widest()
                .routes
                .cheapest(model.workers[worker], server, |arc| 1.0 / model.capacity_of(arc));
            let path = path.expect("every worker reaches every server");
            placement.flows[s][worker] = FlowTo { end: server, path };
            let ends: Vec<NodeIx> = placement.flows[s].iter().map(|flow| flow.end).collect();
            let seconds: Vec<NodeIx> =
                placement.trunks[s].values().map(|path| trunk_end(model, path)).collect();
            placement.trunks[s].retain(|v, _| ends.contains(v) || seconds.contains(v));
            left = muddled(model, &placement, s);
        }
    }
    Some(placement)
}

/// Returns a placement whose passes switches can distinguish: this one, or repaired as [`untangled`] does.
pub(crate) fn clear(router: &Router<'_>, placement: Placement, shares: &[f64]) -> Placement {
    untangled(router, &placement, shares).unwrap_or(placement)
}

/// Changes one path of a worker, so that fewer workers of `left` use a link twice. Returns these workers.
fn step(
    router: &Router<'_>,
    placement: &Placement,
    (s, worker): (usize, usize),
    left: &[usize],
    shares: &[f64],
) -> Option<(Placement, Vec<usize>)> {
    let (model, routes) = (router.model, &router.widest().routes);
    let mut best: Option<(f64, Placement, Vec<usize>)> = None;
    for (from, to, old) in legs(model, placement, s, worker) {
        let others: Vec<Arc> = legs(model, placement, s, worker)
            .filter(|&(start, ..)| start != from)
            .flat_map(|(_, _, path)| path.iter().copied())
            .collect();
        let aside = routes.cheapest(from, to, |arc| if others.contains(&arc) { 1e6 } else { 1.0 });
        let paths = routes.some_paths(from, to, PATHS).into_iter().chain(aside);
        for path in paths.filter(|path| path != old) {
            let mut changed = placement.clone();
            match from == model.workers[worker] {
                true => changed.flows[s][worker].path = path,
                false => drop(changed.trunks[s].insert(from, path)),
            }
            let still = muddled(model, &changed, s);
            if still.len() < left.len() {
                let rate = changed.counts(model).rate(model, shares, |_| true);
                if best.as_ref().is_none_or(|(highest, ..)| rate > *highest) {
                    best = Some((rate, changed, still));
                }
            }
        }
    }
    best.map(|(_, placement, still)| (placement, still))
}
