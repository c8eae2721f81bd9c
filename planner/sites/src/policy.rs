//! Conversion of plans to transmission policies.

use std::collections::BTreeMap;

use inart_protocol_sites::{SiteNo, TransmissionPolicy, Tree, TreeNo};
use inart_topologies::units::counted;

use crate::chunks;
use crate::graph::{Graph, number, site};
use crate::plan::{AuxiliaryPaths, Plan, chunk_sizes};
use crate::plan_error::PlanError;
use crate::scheme::Scheme;
use crate::schemes::hops;
use inart_topologies::sites::{Overlay, SiteId, SiteJob};

/// Converts a plan to a transmission policy.
///
/// # Errors
/// Unknown names, trees that do not span the job, chunks that do not sum to the job's.
pub fn policy(
    overlay: &Overlay,
    job: &SiteJob,
    plan: &Plan,
    version: u64,
) -> Result<TransmissionPolicy, PlanError> {
    policy_on(&Graph::new(overlay, job, &overlay.rates_at(0.0)), overlay, job, plan, version)
}

/// Converts a plan as [`policy`] does, over the links that are up. Edges and paths over failed links take
/// other routes.
pub(crate) fn policy_on(
    graph: &Graph,
    overlay: &Overlay,
    job: &SiteJob,
    plan: &Plan,
    version: u64,
) -> Result<TransmissionPolicy, PlanError> {
    let wrong = |place: String, problem: String| PlanError::Plan { place, problem };
    let scheme = Scheme::of_plan(&plan.scheme)
        .ok_or_else(|| wrong("scheme".to_owned(), format!("\"{}\" is not known", plan.scheme)))?;
    if plan.chunk_bytes == 0 || plan.trees.is_empty() {
        return Err(wrong("trees".to_owned(), "chunks of 0 bytes, or no tree; plan again".to_owned()));
    }
    let member = |name: &str| {
        let found = overlay.site_named(name).filter(|at| job.sites.contains(at));
        found.ok_or_else(|| unknown_site(overlay, job, name))
    };
    let parents = |named: &BTreeMap<String, String>| -> Result<Vec<Option<SiteNo>>, PlanError> {
        let mut parents = vec![None; overlay.sites().len()];
        for (child, parent) in named {
            parents[member(child)?.index()] = Some(number(member(parent)?));
        }
        Ok(parents)
    };
    let mut trees = Vec::new();
    for entry in &plan.trees {
        let up = parents(&entry.parents)?;
        let down = entry.broadcast.as_ref().map_or_else(|| Ok(up.clone()), parents)?;
        trees.push(Tree { root: number(member(&entry.root)?), up, down });
    }
    let sizes = chunk_sizes(job, plan);
    let weights: Vec<f64> = match scheme {
        Scheme::Netstorm => plan.trees.iter().map(|tree| tree.quality_mbps).collect(),
        _ => plan.trees.iter().map(|tree| tree.share).collect(),
    };
    let takes = assign(scheme, &sizes, &weights);
    for (at, tree) in plan.trees.iter().enumerate() {
        let chunks = takes.iter().filter(|&&to| to == at).count() as u64;
        if chunks != tree.chunks {
            let place = format!("tree {at} (root {})", tree.root);
            let problem = format!(
                "its share gives {chunks} of the job, and its list has {}",
                tree.chunks,
                chunks = counted(chunks, "chunk")
            );
            return Err(wrong(place, format!("{problem}; plan again")));
        }
    }
    for entry in &plan.auxiliary {
        for at in entry.paths.iter().flatten().chain([&entry.from, &entry.to]) {
            member(at)?;
        }
    }
    let policy = policy_of(graph, &plan.auxiliary, overlay, trees, takes, version);
    policy.check().map_err(|error| wrong("trees".to_owned(), error.to_string()))?;
    Ok(policy)
}

/// Returns the trees, chunks and routes in the form of a transmission policy.
pub(crate) fn policy_of(
    graph: &Graph,
    auxiliary: &[AuxiliaryPaths],
    overlay: &Overlay,
    trees: Vec<Tree>,
    takes: Vec<usize>,
    version: u64,
) -> TransmissionPolicy {
    let mut routes = BTreeMap::new();
    for tree in &trees {
        let up = (0..).zip(&tree.up).filter_map(|(at, parent)| Some((SiteNo(at), (*parent)?)));
        let down = (0..).zip(&tree.down).filter_map(|(at, parent)| Some(((*parent)?, SiteNo(at))));
        for (from, to) in up.chain(down) {
            if graph.arc(site(from), site(to)).is_none() {
                let route = edge_route(graph, site(from), site(to));
                routes.insert((from, to), route.into_iter().map(number).collect());
            }
        }
    }
    let known = |name: &String| overlay.site_named(name).map(number);
    let paths = |entry: &AuxiliaryPaths| {
        // The direct link is the tree's own.
        let longer = entry.paths.iter().filter(|path| path.len() > 2);
        let paths = longer.map(|path| path.iter().filter_map(known).collect::<Vec<SiteNo>>());
        let is_up =
            |path: &Vec<SiteNo>| path.windows(2).all(|hop| graph.arc(site(hop[0]), site(hop[1])).is_some());
        let paths = paths.filter(is_up).collect();
        Some(((known(&entry.from)?, known(&entry.to)?), paths))
    };
    TransmissionPolicy {
        version,
        sites: graph.members.iter().copied().map(number).collect(),
        trees,
        chunk_trees: takes.into_iter().map(|tree| TreeNo(tree as u16)).collect(),
        routes,
        auxiliary: auxiliary.iter().filter_map(paths).collect(),
    }
}

/// Returns the route of a tree's edge: its link, or the fewest hops without a link.
pub(crate) fn edge_route(graph: &Graph, from: SiteId, to: SiteId) -> Vec<SiteId> {
    if graph.arc(from, to).is_some() { vec![from, to] } else { hops::route(graph, from, to) }
}

/// Assigns chunks to trees.
pub(crate) fn assign(scheme: Scheme, sizes: &[u64], weights: &[f64]) -> Vec<usize> {
    match scheme {
        Scheme::Optimized | Scheme::Own => chunks::by_rate(sizes, weights),
        _ => chunks::by_quota(sizes, weights),
    }
}

pub(crate) fn unknown_site(overlay: &Overlay, job: &SiteJob, name: &str) -> PlanError {
    let known: Vec<_> = job.sites.iter().map(|&at| overlay.site_name(at)).collect();
    PlanError::UnknownSite { name: name.to_owned(), job: job.name.clone(), known: known.join(", ") }
}
