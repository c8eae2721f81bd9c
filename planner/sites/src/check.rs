//! Independent checker of a plan of sites: it shares only the network with the planner.

use std::collections::{BTreeMap, BTreeSet};

use crate::carried;
use crate::plan::{Plan, PlanTree};
use crate::proof;
use crate::scheme::Scheme;
use inart_topologies::sites::{MOST_CHUNK_BYTES, MOST_CHUNKS, Overlay, SiteJob};
use inart_topologies::units::counted;

/// Relative tolerance of stated numbers.
const TOLERANCE: f64 = 1e-6;

/// Returns all errors of a plan on the rates at the start; empty if the plan is correct. Each entry names the
/// location in the plan.
pub fn check(overlay: &Overlay, job: &SiteJob, plan: &Plan) -> Vec<String> {
    let mut wrong = Vec::new();
    if plan.topology != overlay.name() {
        wrong.push(format!("topology: it is for \"{}\", and this is \"{}\"", plan.topology, overlay.name()));
    }
    if plan.job != job.name {
        wrong.push(format!("job: it is for \"{}\", and this is \"{}\"", plan.job, job.name));
    }
    let scheme = Scheme::of_plan(&plan.scheme);
    if scheme.is_none() {
        wrong.push(format!("scheme: \"{}\" is not known", plan.scheme));
    }
    let may_ride = matches!(scheme, Some(Scheme::Star | Scheme::Bkt | Scheme::Optimized));
    let members = job.sites.iter().map(|&at| overlay.site_name(at)).collect();
    let look = Look { overlay, job, members, may_ride };
    if plan.trees.is_empty() {
        wrong.push("trees: the list is empty".to_owned());
    }
    for (at, tree) in plan.trees.iter().enumerate() {
        let place = format!("trees[{at}] (root {})", tree.root);
        look.tree(&place, tree, &mut wrong);
    }
    look.shares(job, plan, &mut wrong);
    look.auxiliary(plan, &mut wrong);
    let bits = job.gradient_bytes() as f64 * 8.0;
    let bound = plan.bounds.seconds;
    if !proof::exists(overlay, &job.sites, bits, bound * (1.0 - TOLERANCE)) {
        wrong.push(format!("bounds.seconds: {bound} is not proven by any pair of sites; plan again"));
    }
    if plan.predicted_s < bound * (1.0 - TOLERANCE) || plan.predicted_s.is_nan() {
        wrong.push(format!("predicted_s: {} is below the bound {bound}", plan.predicted_s));
    }
    if let Some((link, least)) = carried::fullest(overlay, job, plan)
        && plan.predicted_s < least * (1.0 - TOLERANCE)
    {
        let stated = plan.predicted_s;
        wrong.push(format!("predicted_s is {stated}, and the chunks on {link} take {least}; plan again"));
    }
    wrong
}

struct Look<'a> {
    overlay: &'a Overlay,
    job: &'a SiteJob,
    members: BTreeSet<&'a str>,
    /// Whether edges of trees may use routes of several hops.
    may_ride: bool,
}

impl Look<'_> {
    /// Returns the seconds per Mbit from one site to a neighbor; `None` without a link.
    fn hop(&self, from: &str, to: &str) -> Option<f64> {
        let ends = (self.overlay.site_named(from)?, self.overlay.site_named(to)?);
        let arc = self.overlay.arc_between(ends.0, ends.1)?;
        Some(1e6 / self.overlay.rates_at(0.0).of(arc))
    }

    fn tree(&self, place: &str, tree: &PlanTree, wrong: &mut Vec<String>) {
        if !self.members.contains(&*tree.root) {
            wrong.push(format!("{place}: the root is not a site of the job"));
            return;
        }
        for (what, parents) in [("parents", Some(&tree.parents)), ("broadcast", tree.broadcast.as_ref())] {
            let Some(parents) = parents else { continue };
            for &at in &self.members {
                if self.depth(parents, at, &tree.root).is_none() {
                    wrong.push(format!("{place}.{what}: from {at} they do not lead to the root"));
                }
            }
            for name in parents.iter().flat_map(|(child, parent)| [child, parent]) {
                if !self.members.contains(&**name) {
                    wrong.push(format!("{place}.{what}: \"{name}\" is not a site of the job"));
                }
            }
        }
        for (from, to) in carried::edges(tree).filter(|(from, to)| self.hop(from, to).is_none()) {
            if !self.may_ride {
                wrong.push(format!("{place}: there is no link from {from} to {to}"));
            }
        }
        // Edges without a link use routes of the fewest hops, of which several may exist.
        let weighed = self.members.iter().map(|at| self.way_up(tree, at)).collect::<Option<Vec<_>>>();
        if let Some(all) = weighed {
            let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(0.0, f64::max);
            let weight = tree.weight_s_per_mbit.clamp(most(|way| way.0), most(|way| way.1));
            differs(wrong, &format!("{place}.weight_s_per_mbit"), tree.weight_s_per_mbit, weight);
        }
        differs(wrong, &format!("{place}.quality_mbps"), tree.quality_mbps, 1.0 / tree.weight_s_per_mbit);
    }

    /// Returns the number of edges from a site to the root.
    fn depth(&self, parents: &BTreeMap<String, String>, from: &str, root: &str) -> Option<usize> {
        let mut at = from;
        for depth in 0..=self.members.len() {
            match parents.get(at) {
                None => return (at == root).then_some(depth),
                Some(_) if at == root => return None,
                Some(parent) => at = parent,
            }
        }
        None
    }

    /// Returns the least and the largest sum of weights up to the root.
    fn way_up(&self, tree: &PlanTree, from: &str) -> Option<(f64, f64)> {
        self.depth(&tree.parents, from, &tree.root)?;
        let (mut at, mut sums) = (from, (0.0, 0.0));
        while let Some(parent) = tree.parents.get(at) {
            let hop = || self.hop(at, parent).map(|weight| (weight, weight));
            let route = || carried::route_weights(self.overlay, self.job, at, parent);
            let (least, most) = hop().or_else(route)?;
            sums = (sums.0 + least, sums.1 + most);
            at = parent;
        }
        Some(sums)
    }

    fn shares(&self, job: &SiteJob, plan: &Plan, wrong: &mut Vec<String>) {
        for (at, tree) in plan.trees.iter().enumerate() {
            if !(0.0..=1.0).contains(&tree.share) {
                wrong.push(format!("trees[{at}].share: {} is not a part from 0 to 1", tree.share));
            }
        }
        let sum: f64 = plan.trees.iter().map(|tree| tree.share).sum();
        differs(wrong, "the sum of shares", sum, 1.0);
        if plan.chunk_bytes == 0 || !plan.chunk_bytes.is_multiple_of(job.unit_bytes) {
            wrong.push(format!(
                "chunk_bytes: {} is not a multiple of {} above 0",
                plan.chunk_bytes, job.unit_bytes
            ));
            return;
        }
        let longest = job.tensors_bytes.iter().copied().max().unwrap_or(0).min(plan.chunk_bytes);
        if longest > MOST_CHUNK_BYTES {
            wrong.push(format!("chunk_bytes: {longest} is more than {MOST_CHUNK_BYTES} B"));
        }
        let chunks = job.tensors_bytes.iter().map(|bytes| bytes.div_ceil(plan.chunk_bytes));
        let chunks = chunks.fold(0, u64::saturating_add);
        if chunks > MOST_CHUNKS {
            wrong.push(format!(
                "chunk_bytes: it cuts the gradient into {chunks}",
                chunks = counted(chunks, "chunk")
            ));
        }
        let has = plan.trees.iter().map(|tree| tree.chunks).fold(0, u64::saturating_add);
        if has != chunks {
            wrong
                .push(format!("the trees have {has}, and the job has {chunks}", has = counted(has, "chunk")));
        }
    }

    fn auxiliary(&self, plan: &Plan, wrong: &mut Vec<String>) {
        for (at, entry) in plan.auxiliary.iter().enumerate() {
            let place = format!("auxiliary[{at}]");
            let mut before = 0.0;
            for path in &entry.paths {
                let ends = (path.first().map(String::as_str), path.last().map(String::as_str));
                if ends != (Some(&entry.from), Some(&entry.to)) {
                    wrong
                        .push(format!("{place}: {path:?} does not lead from {} to {}", entry.from, entry.to));
                }
                if path.iter().collect::<BTreeSet<_>>().len() != path.len() {
                    wrong.push(format!("{place}: {path:?} meets a site twice"));
                }
                let hops = path.windows(2).map(|hop| self.hop(&hop[0], &hop[1]));
                match hops.sum::<Option<f64>>() {
                    None => wrong.push(format!("{place}: {path:?} takes a link that does not exist")),
                    Some(weight) if weight < before * (1.0 - TOLERANCE) => {
                        wrong.push(format!("{place}: {path:?} is faster than the one before it"));
                    }
                    Some(weight) => before = weight,
                }
            }
        }
    }
}

fn differs(wrong: &mut Vec<String>, place: &str, stated: f64, is: f64) {
    let apart = (stated - is).abs();
    if apart.is_nan() || apart > TOLERANCE * is.abs() {
        wrong.push(format!("{place} is {stated}; expected {is}"));
    }
}
