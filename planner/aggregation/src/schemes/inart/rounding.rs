//! Phase 2, R-InArt: Alg. 2 of the InArt paper. Every y, z and q is drawn with its fractional value as
//! probability.

use std::collections::BTreeMap;

use rand::distr::weighted::WeightedIndex;
use rand::prelude::Distribution;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fractional::Fractional;
use crate::model::NodeIx;
use crate::placement::{FlowTo, Placement};
use crate::router::Router;
use crate::routes::Path;

/// One rounding: an end for every (server, worker), one path for it, and one path per used (server, switch).
/// Results, which the InArt paper does not count, get the least-loaded trees.
fn round(router: &Router<'_>, fractional: &Fractional, rng: &mut ChaCha8Rng) -> Placement {
    let model = router.model;
    let mut placement = Placement::default();
    for (s, &server) in model.servers.iter().enumerate() {
        let mut flows: Vec<Option<FlowTo>> = vec![None; model.workers.len()];
        for (class, ends) in fractional.classes.iter().zip(&fractional.ends[s]) {
            let draw =
                WeightedIndex::new(ends.iter().map(|&(_, y)| y)).expect("some end has a positive weight");
            for &w in &class.workers {
                let end = ends[draw.sample(rng)].0;
                flows[w] =
                    Some(FlowTo { end, path: draw_path(router, fractional, model.workers[w], end, rng) });
            }
        }
        let flows: Vec<FlowTo> =
            flows.into_iter().map(|f| f.expect("every worker is in one class")).collect();
        let mut trunks: BTreeMap<NodeIx, Path> = BTreeMap::new();
        for flow in flows.iter().filter(|flow| flow.end != server) {
            trunks.entry(flow.end).or_insert_with(|| draw_path(router, fractional, flow.end, server, rng));
        }
        placement.flows.push(flows);
        placement.trunks.push(trunks);
    }
    let shares: Vec<f64> = fractional.sending.iter().map(|f| f / fractional.rate).collect();
    router.with_results(placement, &shares)
}

/// Draws a path along shortest paths, each next hop with a probability proportional to the LP's flow towards
/// the destination.
fn draw_path(
    router: &Router<'_>,
    fractional: &Fractional,
    from: NodeIx,
    to: NodeIx,
    rng: &mut ChaCha8Rng,
) -> Path {
    let hops = router.routes.hops_to(to);
    let mut path = Vec::with_capacity(hops[from as usize] as usize);
    let mut node = from;
    while node != to {
        let next: Vec<_> = router.routes.closer(node, hops).collect();
        let weights = next.iter().map(|&(arc, _)| fractional.spread.weight(to, arc));
        let chosen = match WeightedIndex::new(weights) {
            Ok(draw) => draw.sample(rng),
            // The solver left no flow here (rounding errors, or a merged worker's own uplink): any arc is as
            // good.
            Err(_) => rng.random_range(0..next.len()),
        };
        path.push(next[chosen].0);
        node = next[chosen].1;
    }
    path.into()
}

/// Rounds once with a separate seed.
pub(crate) fn with_seed(router: &Router<'_>, fractional: &Fractional, seed: u64) -> Placement {
    round(router, fractional, &mut ChaCha8Rng::seed_from_u64(seed))
}
