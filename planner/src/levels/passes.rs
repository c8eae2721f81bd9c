//! Passes that a switch can tell apart. With two levels, a worker's share of a server may come to a switch over the same link
//! twice, on its own and in a sum; the switch goes by the port that a frame comes in by. With one level, shortest paths see
//! to it that this does not happen.

use crate::model::{Arc, Model, NodeIx};
use crate::options::Options;
use crate::placement::{Placement, trunk_end};
use crate::router::Router;
use crate::routes::Path;

use super::tree::PATHS;

/// The legs of one worker's way to a server: its flow's, then those of the sums it is in, each with its ends.
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

/// The workers whose share of a server comes over some link twice.
fn muddled(model: &Model<'_>, placement: &Placement, s: usize) -> Vec<usize> {
    let mut arcs: Vec<Arc> = Vec::new();
    let comes_twice = |&w: &usize| {
        arcs.clear();
        arcs.extend(legs(model, placement, s, w).flat_map(|(_, _, path)| path.iter()));
        arcs.sort_unstable();
        arcs.windows(2).any(|pair| pair[0] == pair[1])
    };
    (0..model.workers.len()).filter(comes_twice).collect()
}

/// The placement with other paths where shares come over a link twice: of those that help, each time the one that keeps the rate at
/// these shares the highest. `None` if none does, or when the time is up.
pub(super) fn apart(
    router: &Router<'_>,
    options: &Options<'_>,
    mut placement: Placement,
    shares: &[f64],
) -> Option<Placement> {
    let model = router.model;
    for s in 0..model.servers.len() {
        let mut left = muddled(model, &placement, s);
        while let Some(&worker) = left.first() {
            if options.out_of_time() {
                return None;
            }
            let mut best: Option<(f64, Placement, Vec<usize>)> = None;
            for (from, to, old) in legs(model, &placement, s, worker) {
                for path in router.routes.some_paths(from, to, PATHS).into_iter().filter(|path| path != old) {
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
            (_, placement, left) = best?;
        }
    }
    Some(placement)
}
