//! Planning: from a job and the rates between its sites to a plan.

use std::collections::BTreeMap;

use inart_protocol_sites::{SiteNo, TransmissionPolicy, Tree};

use crate::auxiliary;
use crate::best::{self, Effort};
use crate::bounds;
use crate::candidate::Case;
use crate::chunks;
use crate::graph::{Graph, number, site};
use crate::plan::{AuxiliaryPaths, Bounds, Plan, PlanTree, chunk_sizes};
use crate::plan_error::PlanError;
use crate::policy::{assign, edge_route, policy_of, policy_on, unknown_site};
use crate::rounds;
use crate::scheme::Scheme;
use crate::schemes::{self, Options};
use inart_topologies::sites::{Overlay, Rates, SiteId, SiteJob};

/// Number of chunks of InArt's scheme: many chunks fill the trees' pipelines fast, and each chunk has a small
/// cost.
const CHUNKS_OF_OURS: u64 = 2048;

/// Minimum chunk length of InArt's scheme, unless the job's chunks are shorter.
const LEAST_CHUNK_BYTES: u64 = 64 * 1024;

/// Plans a job on the given rates.
///
/// # Errors
/// Options that the scheme does not support; errors of the solver.
pub fn plan(overlay: &Overlay, job: &SiteJob, rates: &Rates, options: &Options) -> Result<Plan, PlanError> {
    let Made { mut plan, policy } = make(overlay, job, rates, options, true)?;
    plan.predicted_s = rounds::predict(overlay, rates, &policy, &chunk_sizes(job, &plan), options.scheme);
    Ok(plan)
}

/// Returns the time of a round by a plan on constant rates, in seconds.
///
/// # Errors
/// A plan that does not fit the job, as for [`crate::policy()`].
pub fn predicted_seconds(
    overlay: &Overlay,
    job: &SiteJob,
    rates: &Rates,
    plan: &Plan,
) -> Result<f64, PlanError> {
    let options = Options::following(plan.clone())?;
    let policy = policy_on(&Graph::new(overlay, job, rates), overlay, job, plan, 0)?;
    Ok(rounds::predict(overlay, rates, &policy, &chunk_sizes(job, plan), options.scheme))
}

/// Returns a plan without a predicted time (its field is 0), and its transmission policy as version 0. A rate
/// of 0 means that the link is down. Uses less effort than [`plan`], since the plan is soon remade.
///
/// # Errors
/// As for [`plan`]; failed links that separate sites.
pub fn plan_and_policy(
    overlay: &Overlay,
    job: &SiteJob,
    rates: &Rates,
    options: &Options,
) -> Result<(Plan, TransmissionPolicy), PlanError> {
    let Made { plan, policy } = make(overlay, job, rates, options, false)?;
    Ok((plan, policy))
}

/// Plans as [`plan_and_policy`], with the effort of [`plan`]: for a plan that stays.
///
/// # Errors
/// As for [`plan_and_policy`].
pub fn kept_plan_and_policy(
    overlay: &Overlay,
    job: &SiteJob,
    rates: &Rates,
    options: &Options,
) -> Result<(Plan, TransmissionPolicy), PlanError> {
    let Made { plan, policy } = make(overlay, job, rates, options, true)?;
    Ok((plan, policy))
}

/// Returns a plan without a predicted time, with chunks of another length than the scheme's.
///
/// # Errors
/// As for [`plan`].
pub fn plan_with_chunks(
    overlay: &Overlay,
    job: &SiteJob,
    rates: &Rates,
    options: &Options,
    chunk_bytes: u64,
) -> Result<Plan, PlanError> {
    Ok(make_with_chunks(overlay, job, rates, options, (chunk_bytes, true))?.plan)
}

/// Plan without a predicted time, and its transmission policy.
struct Made {
    plan: Plan,
    policy: TransmissionPolicy,
}

/// Plans a job; with little effort if the plan is soon remade.
fn make(
    overlay: &Overlay,
    job: &SiteJob,
    rates: &Rates,
    options: &Options,
    is_kept: bool,
) -> Result<Made, PlanError> {
    make_with_chunks(overlay, job, rates, options, (longest_chunk(job, options.scheme), is_kept))
}

fn make_with_chunks(
    overlay: &Overlay,
    job: &SiteJob,
    rates: &Rates,
    options: &Options,
    (chunk_bytes, is_kept): (u64, bool),
) -> Result<Made, PlanError> {
    options.check(&job.sites)?;
    if let Some(root) = options.root.filter(|root| !job.sites.contains(root)) {
        return Err(unknown_site(overlay, job, overlay.site_name(root)));
    }
    let graph = Graph::new(overlay, job, rates);
    if let Some(apart) = graph.apart() {
        return Err(PlanError::Apart { site: overlay.site_name(apart).to_owned(), job: job.name.clone() });
    }
    if let Some(given) = &options.given {
        let policy = policy_on(&graph, overlay, job, given, 0)?;
        return Ok(Made { plan: Plan { predicted_s: 0.0, ..Plan::clone(given) }, policy });
    }
    let sizes = chunks::cut(&job.tensors_bytes, chunk_bytes);
    let bound_s = bounds::round_seconds(&graph, job.gradient_bytes());
    let trees = match options.scheme {
        Scheme::Optimized => {
            let case = Case { overlay, job, graph: &graph, rates, sizes: &sizes, bound_s };
            let of_scheme = |scheme| plan(overlay, job, rates, &Options::new(scheme)).ok();
            let rival_s = |scheme| of_scheme(scheme).map(|plan| plan.predicted_s);
            best::trees(&case, Effort { is_kept, rival_s: &rival_s })?
        }
        _ => schemes::trees(&graph, options)?,
    };
    let weights: Vec<f64> = trees.iter().map(|weighted| weighted.weight).collect();
    let takes = assign(options.scheme, &sizes, &weights);
    let parts = Parts { overlay, graph: &graph, scheme: options.scheme, sizes: &sizes, takes: &takes };
    let paths = options.auxiliary.map(|disjoint| auxiliary::paths(&graph, disjoint)).unwrap_or_default();
    let entries = trees.iter().zip(&weights).enumerate();
    let plan = Plan {
        scheme: options.scheme.name().to_owned(),
        topology: overlay.name().to_owned(),
        job: job.name.clone(),
        chunk_bytes,
        trees: entries.map(|(at, (weighted, &weight))| parts.tree(at, &weighted.tree, weight)).collect(),
        auxiliary: paths.into_iter().map(|(ends, paths)| parts.auxiliary(ends, paths)).collect(),
        predicted_s: 0.0,
        bounds: Bounds { seconds: bound_s },
    };
    let trees = trees.into_iter().map(|weighted| weighted.tree).collect();
    let policy = policy_of(&graph, &plan.auxiliary, overlay, trees, takes, 0);
    Ok(Made { plan, policy })
}

/// Inputs of the entries of a plan.
pub(crate) struct Parts<'a> {
    pub overlay: &'a Overlay,
    pub graph: &'a Graph,
    pub scheme: Scheme,
    /// Size of each chunk, in bytes.
    pub sizes: &'a [u64],
    /// Tree of each chunk.
    pub takes: &'a [usize],
}

impl Parts<'_> {
    /// Creates the entry of a tree. `share`: share in the packing, where the scheme packs.
    pub fn tree(&self, at: usize, tree: &Tree, share: f64) -> PlanTree {
        let has =
            || self.takes.iter().zip(self.sizes).filter(move |(to, _)| **to == at).map(|(_, bytes)| *bytes);
        let weight = self.graph.tree_weight(tree, &|from, to| edge_route(self.graph, from, to));
        PlanTree {
            root: self.name(tree.root),
            share: match self.scheme {
                Scheme::Optimized | Scheme::Own => share,
                _ => has().sum::<u64>() as f64 / self.sizes.iter().sum::<u64>() as f64,
            },
            chunks: has().count() as u64,
            weight_s_per_mbit: weight,
            quality_mbps: 1.0 / weight,
            parents: self.names(&tree.up),
            broadcast: (tree.down != tree.up).then(|| self.names(&tree.down)),
        }
    }

    fn auxiliary(&self, (from, to): (SiteId, SiteId), paths: Vec<Vec<SiteId>>) -> AuxiliaryPaths {
        let name = |at: SiteId| self.name(number(at));
        AuxiliaryPaths {
            from: name(from),
            to: name(to),
            paths: paths.into_iter().map(|path| path.into_iter().map(name).collect()).collect(),
        }
    }

    fn name(&self, at: SiteNo) -> String {
        self.overlay.site_name(site(at)).to_owned()
    }

    fn names(&self, parents: &[Option<SiteNo>]) -> BTreeMap<String, String> {
        let pairs = (0..).map(SiteNo).zip(parents);
        pairs.filter_map(|(at, parent)| Some((self.name(at), self.name((*parent)?)))).collect()
    }
}

/// Returns the length of the longest chunk of a plan, in bytes.
pub fn longest_chunk(job: &SiteJob, scheme: Scheme) -> u64 {
    if !matches!(scheme, Scheme::Optimized | Scheme::Own) {
        return job.chunk_bytes;
    }
    let fine = (job.gradient_bytes() / CHUNKS_OF_OURS).max(LEAST_CHUNK_BYTES);
    fine.next_multiple_of(job.unit_bytes).min(job.chunk_bytes)
}
