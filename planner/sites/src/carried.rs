//! Load of the links of a plan's trees, and weights of their edges, as the checker counts them. Shares only
//! the network with the planner.

use std::collections::BTreeMap;

use crate::plan::{Plan, PlanTree};
use inart_topologies::sites::{ArcId, Overlay, SiteId, SiteJob};

/// Returns the minimum seconds of a round of a plan without auxiliary paths on the rates at the start, by the
/// bits of its fullest link, and that link. `None` if no tree uses a link, or with auxiliary paths.
pub(crate) fn fullest(overlay: &Overlay, job: &SiteJob, plan: &Plan) -> Option<(String, f64)> {
    if !plan.auxiliary.is_empty() {
        return None;
    }
    let chunks = plan.trees.iter().fold(0, |sum: u64, tree| sum.saturating_add(tree.chunks));
    let mut bits: BTreeMap<ArcId, f64> = BTreeMap::new();
    for tree in &plan.trees {
        // Other schemes have at most whole chunks.
        let of_others = chunks.saturating_sub(tree.chunks).saturating_mul(plan.chunk_bytes);
        let own = job.gradient_bytes().saturating_sub(of_others) as f64 * 8.0;
        for (from, to) in edges(tree) {
            if let Some(arc) = arc(overlay, from, to) {
                *bits.entry(arc).or_default() += own;
            }
        }
    }
    let rates = overlay.rates_at(0.0);
    let seconds = bits.into_iter().map(|(arc, bits)| (arc, bits / rates.of(arc)));
    let (arc, seconds) = seconds.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (from, to) = overlay.ends(arc);
    Some((format!("{} to {}", overlay.site_name(from), overlay.site_name(to)), seconds))
}

/// Returns all hops of a tree: from each child to its parent, and back from its parent or from the site that
/// it receives sums from, if that differs.
pub(crate) fn edges(tree: &PlanTree) -> impl Iterator<Item = (&str, &str)> {
    let up = tree.parents.iter().map(|(child, parent)| (&**child, &**parent));
    let down = tree.broadcast.as_ref().unwrap_or(&tree.parents);
    up.chain(down.iter().map(|(child, parent)| (&**parent, &**child)))
}

/// Returns the direction from a site to a neighbor.
pub(crate) fn arc(overlay: &Overlay, from: &str, to: &str) -> Option<ArcId> {
    overlay.arc_between(overlay.site_named(from)?, overlay.site_named(to)?)
}

/// Returns the least and the most seconds per Mbit of a route of the fewest hops over sites of the job.
pub(crate) fn route_weights(overlay: &Overlay, job: &SiteJob, from: &str, to: &str) -> Option<(f64, f64)> {
    let (from, to) = (overlay.site_named(from)?, overlay.site_named(to)?);
    let rates = overlay.rates_at(0.0);
    let mut reached: BTreeMap<SiteId, (f64, f64)> = BTreeMap::from([(from, (0.0, 0.0))]);
    let mut layer = reached.clone();
    while !layer.is_empty() && !reached.contains_key(&to) {
        let mut next: BTreeMap<SiteId, (f64, f64)> = BTreeMap::new();
        for arc in overlay.arcs() {
            let (a, b) = overlay.ends(arc);
            let is_new = job.sites.contains(&b) && !reached.contains_key(&b);
            if let Some((least, most)) = layer.get(&a).filter(|_| is_new) {
                let weight = 1e6 / rates.of(arc);
                let known = next.entry(b).or_insert((f64::INFINITY, 0.0));
                *known = (known.0.min(least + weight), known.1.max(most + weight));
            }
        }
        reached.extend(next.clone());
        layer = next;
    }
    reached.get(&to).copied()
}
