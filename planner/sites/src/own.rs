//! Trees of a user: parsed, checked, and completed to a plan.

use std::collections::BTreeMap;

use inart_protocol_sites::{SiteNo, Tree};
use inart_topologies::units::counted;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::bounds;
use crate::chunks;
use crate::graph::{Graph, number};
use crate::plan::{AuxiliaryPaths, Bounds, Plan};
use crate::plan_error::PlanError;
use crate::planning::{Parts, longest_chunk};
use crate::policy::{assign, policy_on};
use crate::rounds;
use crate::scheme::Scheme;
use inart_topologies::sites::{MOST_CHUNK_BYTES, MOST_CHUNKS, Overlay, SiteId, SiteJob};

/// Maximum number of a user's trees.
const MOST_TREES: usize = 1024;

/// Tolerance of the sum of shares around 1.
const TOLERANCE: f64 = 1e-6;

/// Choices of a user in a plan. Derived fields may be present; they are derived again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnPlan {
    /// Name of the network, if the plan is only for this one.
    pub topology: Option<String>,
    /// Name of the job; needed where the network has several jobs.
    pub job: Option<String>,
    /// Longest chunk in bytes; without it, as long as those of `inart`.
    pub chunk_bytes: Option<u64>,
    /// Trees; at least one.
    pub trees: Vec<OwnTree>,
    /// Paths between neighbors, for the plans of schemes that use them.
    #[serde(default)]
    pub auxiliary: Vec<AuxiliaryPaths>,
    #[serde(default, rename = "scheme")]
    _scheme: IgnoredAny,
    #[serde(default, rename = "predicted_s")]
    _predicted_s: IgnoredAny,
    #[serde(default, rename = "bounds")]
    _bounds: IgnoredAny,
}

/// Tree of a user.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnTree {
    /// Root, at which sums are complete.
    pub root: String,
    /// Fraction of the gradient that the tree carries, from 0 to 1. Without any shares, trees share by their
    /// quality.
    pub share: Option<f64>,
    /// Site that each site except the root sends its sums to.
    pub parents: BTreeMap<String, String>,
    /// Site that each site except the root receives complete sums from, if that is not its parent.
    pub broadcast: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "chunks")]
    _chunks: IgnoredAny,
    #[serde(default, rename = "weight_s_per_mbit")]
    _weight_s_per_mbit: IgnoredAny,
    #[serde(default, rename = "quality_mbps")]
    _quality_mbps: IgnoredAny,
}

impl OwnPlan {
    /// Extracts the choices of a plan's user or scheme.
    pub fn of(plan: &Plan) -> Self {
        let tree = |tree: &crate::plan::PlanTree| OwnTree {
            root: tree.root.clone(),
            share: Some(tree.share),
            parents: tree.parents.clone(),
            broadcast: tree.broadcast.clone(),
            _chunks: IgnoredAny,
            _weight_s_per_mbit: IgnoredAny,
            _quality_mbps: IgnoredAny,
        };
        OwnPlan {
            topology: Some(plan.topology.clone()),
            job: Some(plan.job.clone()),
            chunk_bytes: Some(plan.chunk_bytes),
            trees: plan.trees.iter().map(tree).collect(),
            auxiliary: plan.auxiliary.clone(),
            _scheme: IgnoredAny,
            _predicted_s: IgnoredAny,
            _bounds: IgnoredAny,
        }
    }
}

fn wrong(place: impl Into<String>, problem: impl Into<String>) -> PlanError {
    PlanError::Plan { place: place.into(), problem: problem.into() }
}

/// Completes a user's trees to a plan of `scheme`: chunks, weights, the time of a round and the bound on the
/// rates at the start.
///
/// # Errors
/// The first mismatch with the network or the job, with its location in the plan and the fix.
pub fn complete(overlay: &Overlay, job: &SiteJob, own: &OwnPlan, scheme: Scheme) -> Result<Plan, PlanError> {
    is_for(overlay, job, own)?;
    let rates = overlay.rates_at(0.0);
    let graph = Graph::new(overlay, job, &rates);
    let chunk_bytes = chunk_bytes(job, own, scheme)?;
    if own.trees.is_empty() || own.trees.len() > MOST_TREES {
        let problem = format!("it has {}; give from 1 to {MOST_TREES}", own.trees.len());
        return Err(wrong("trees", problem));
    }
    if scheme.sends_in_order() && !own.auxiliary.is_empty() {
        let problem = "chunks of a user's own trees take no auxiliary paths; leave it out";
        return Err(wrong("auxiliary", problem));
    }
    let look = Look { overlay, job, graph: &graph, scheme };
    let trees = own.trees.iter().enumerate().map(|(at, tree)| look.tree(at, tree));
    let trees: Vec<Tree> = trees.collect::<Result<_, _>>()?;
    let sizes = chunks::cut(&job.tensors_bytes, chunk_bytes);
    let none: &[usize] = &[];
    let parts = Parts { overlay, graph: &graph, scheme, sizes: &sizes, takes: none };
    let qualities: Vec<f64> = trees.iter().map(|tree| parts.tree(0, tree, 0.0).quality_mbps).collect();
    let shares = shares(own, &qualities)?;
    let weights = if scheme == Scheme::Netstorm { &qualities } else { &shares };
    let takes = assign(scheme, &sizes, weights);
    let parts = Parts { takes: &takes, ..parts };
    let entries = trees.iter().zip(&shares).enumerate();
    let mut plan = Plan {
        scheme: scheme.name().to_owned(),
        topology: overlay.name().to_owned(),
        job: job.name.clone(),
        chunk_bytes,
        trees: entries.map(|(at, (tree, &share))| parts.tree(at, tree, share)).collect(),
        auxiliary: own.auxiliary.clone(),
        predicted_s: 0.0,
        bounds: Bounds { seconds: bounds::round_seconds(&graph, job.gradient_bytes()) },
    };
    let policy = policy_on(&graph, overlay, job, &plan, 0)?;
    plan.predicted_s = rounds::predict(overlay, &rates, &policy, &sizes, scheme);
    Ok(plan)
}

fn is_for(overlay: &Overlay, job: &SiteJob, own: &OwnPlan) -> Result<(), PlanError> {
    for (place, given, expected) in
        [("topology", &own.topology, overlay.name()), ("job", &own.job, &*job.name)]
    {
        if let Some(given) = given.as_ref().filter(|given| *given != expected) {
            let problem =
                format!("it is for \"{given}\", and this is \"{expected}\"; give the {place} of the plan");
            return Err(wrong(place, problem));
        }
    }
    Ok(())
}

fn chunk_bytes(job: &SiteJob, own: &OwnPlan, scheme: Scheme) -> Result<u64, PlanError> {
    let Some(bytes) = own.chunk_bytes else { return Ok(longest_chunk(job, scheme)) };
    let unit = job.unit_bytes;
    if bytes == 0 || !bytes.is_multiple_of(unit) {
        return Err(wrong("chunk_bytes", format!("{bytes}; give a multiple of {unit} above 0")));
    }
    let longest = job.tensors_bytes.iter().copied().max().unwrap_or(0).min(bytes);
    let count = job.tensors_bytes.iter().fold(0u64, |sum, tensor| sum.saturating_add(tensor.div_ceil(bytes)));
    if longest > MOST_CHUNK_BYTES || count > MOST_CHUNKS {
        let problem = format!(
            "{bytes} gives {count} of at most {longest} B; give at most {MOST_CHUNKS} chunks of at most \
             {MOST_CHUNK_BYTES} B",
            count = counted(count, "chunk")
        );
        return Err(wrong("chunk_bytes", problem));
    }
    Ok(bytes)
}

/// Returns the given shares; without any, shares in proportion to the trees' qualities.
fn shares(own: &OwnPlan, qualities: &[f64]) -> Result<Vec<f64>, PlanError> {
    let given: Vec<f64> = own.trees.iter().filter_map(|tree| tree.share).collect();
    if given.is_empty() {
        let sum: f64 = qualities.iter().sum();
        return Ok(qualities.iter().map(|quality| quality / sum).collect());
    }
    if let Some(at) = own.trees.iter().position(|tree| tree.share.is_none()) {
        let problem = "it is missing, and other trees have one; give one to every tree, or to none";
        return Err(wrong(format!("trees[{at}].share"), problem));
    }
    if let Some(at) = given.iter().position(|share| !(0.0..=1.0).contains(share)) {
        return Err(wrong(format!("trees[{at}].share"), format!("{}; give a part from 0 to 1", given[at])));
    }
    let sum: f64 = given.iter().sum();
    if (sum - 1.0).abs() > TOLERANCE {
        return Err(wrong("trees", format!("their shares sum to {sum}; give shares that sum to 1")));
    }
    Ok(given)
}

struct Look<'a> {
    overlay: &'a Overlay,
    job: &'a SiteJob,
    graph: &'a Graph,
    scheme: Scheme,
}

impl Look<'_> {
    fn tree(&self, at: usize, tree: &OwnTree) -> Result<Tree, PlanError> {
        let place = format!("trees[{at}]");
        let root = self.member(&format!("{place}.root"), &tree.root)?;
        let up = self.parents(&format!("{place}.parents"), root, &tree.parents)?;
        let down = match &tree.broadcast {
            None => up.clone(),
            Some(parents) => self.parents(&format!("{place}.broadcast"), root, parents)?,
        };
        Ok(Tree { root: number(root), up, down })
    }

    fn member(&self, place: &str, name: &str) -> Result<SiteId, PlanError> {
        let found = self.overlay.site_named(name).filter(|at| self.job.sites.contains(at));
        found.ok_or_else(|| {
            let known = self.names(self.job.sites.iter().copied());
            wrong(place, format!("job {} has no site \"{name}\"; name some of {known}", self.job.name))
        })
    }

    fn names(&self, sites: impl Iterator<Item = SiteId>) -> String {
        sites.map(|at| self.overlay.site_name(at)).collect::<Vec<_>>().join(", ")
    }

    /// Returns parents by site. From every site of the job they lead over links to the root.
    fn parents(
        &self,
        place: &str,
        root: SiteId,
        named: &BTreeMap<String, String>,
    ) -> Result<Vec<Option<SiteNo>>, PlanError> {
        let mut parents: Vec<Option<SiteId>> = vec![None; self.overlay.sites().len()];
        for (child, parent) in named {
            let (from, to) = (self.member(place, child)?, self.member(place, parent)?);
            if from == root {
                return Err(wrong(place, format!("the root {child} has a parent; leave it out")));
            }
            if self.graph.arc(from, to).is_none() && self.needs_links() {
                let near = self.names(self.graph.neighbors[from.index()].iter().map(|&(next, _)| next));
                let problem = format!("{child} to {parent}: no such link; {child} has links to {near}");
                return Err(wrong(place, problem));
            }
            parents[from.index()] = Some(to);
        }
        for &from in &self.job.sites {
            self.leads(place, root, from, &parents)?;
        }
        Ok(parents.into_iter().map(|parent| parent.map(number)).collect())
    }

    fn leads(
        &self,
        place: &str,
        root: SiteId,
        from: SiteId,
        parents: &[Option<SiteId>],
    ) -> Result<(), PlanError> {
        let (mut at, mut steps) = (from, 0);
        while at != root {
            let Some(parent) = parents[at.index()] else {
                let name = self.overlay.site_name(at);
                let problem = format!("site {name} has no parent; give each site but the root one");
                return Err(wrong(place, problem));
            };
            (at, steps) = (parent, steps + 1);
            if steps > self.job.sites.len() {
                let name = self.overlay.site_name(from);
                let problem = format!("from {name} they lead in a circle; let them lead to the root");
                return Err(wrong(place, problem));
            }
        }
        Ok(())
    }

    /// Whether edges must be links. Edges of STAR, BKT and `optimized` may use routes of several hops.
    fn needs_links(&self) -> bool {
        self.scheme == Scheme::Own
    }
}
