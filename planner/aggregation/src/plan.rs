//! A plan: destination of every worker's share of the gradient, aggregation points, and rate.

use inart_formats::{DocumentError, Format, FormatError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::choices::Paths;
use inart_topologies::one_line;

/// Largest number of workers in one sum: the bits of the header's bitmap. A larger group leaves its switch as
/// one sum per this many workers, which all count on the links, at the next aggregator and at the server.
pub const WORKERS_PER_SUM: usize = 64;

/// Formats of files with plans of networks of switches, of one job or of several. Format 1, without a number,
/// may have old names of schemes.
pub const PLAN_FORMAT: Format = Format {
    kind: "plan of a network of switches",
    oldest: 1,
    newest: 2,
    fix: "make the plan again with inart plan",
};

/// A plan of one job on one topology, as written to and read from JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Plan {
    /// The scheme that made it.
    pub scheme: String,
    /// The seed it was made with.
    pub seed: u64,
    /// Name of the topology it is for.
    pub topology: String,
    /// Name of the job it is for.
    pub job: String,
    /// Largest number of aggregations of a gradient on its way: 1 as in the InArt paper (then left out of the
    /// JSON), or more, where a trunk may end at another aggregator.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub levels: u8,
    /// Paths that its flows and trunks are among, and that its bounds are proven for; absent in plans made
    /// before there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Whether it is for an exact job. Left out of the JSON if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Limits that its rate may exceed according to its scheme's promises; left out of the JSON if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignores: Vec<Limit>,
    /// f, bit/s: the rate at which every worker can send its whole gradient with no capacity exceeded, except
    /// the ignored ones.
    pub rate_bps: f64,
    /// Upper bounds of the rate of all plans.
    pub bounds: Bounds,
    /// Partition of the gradient: one shard per server, in the job's order; the shares sum to 1.
    pub shards: Vec<Shard>,
    /// One entry per worker and server.
    pub flows: Vec<Flow>,
    /// One entry per server and switch that aggregates for it.
    pub trunks: Vec<Trunk>,
    /// Paths of the results: for each server the tree over which its sums return to the workers. Empty in
    /// plans of older versions; then the controller uses a tree of shortest paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultTree>,
    /// Whether results count on the links in `rate_bps`, `load` and the bounds. If not (left out of the
    /// JSON), they are sent in addition, as in the InArt paper.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub results_counted: bool,
    /// Load at `rate_bps` of every limited resource that the plan uses, the fullest first; may be empty in
    /// plans written by hand.
    pub load: Vec<Load>,
    /// Use of the same resources by jobs planned with this one; the rate holds for that use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_jobs: Vec<OtherUse>,
    /// Planning time in milliseconds; set by the caller, who owns a clock.
    pub solve_ms: f64,
    /// For randomized rounding: by how much the rounded plan would exceed capacities at the LP's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violations>,
    /// For a plan made from a running one: the number of changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
}

/// A kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// C(v): aggregation capacity of a switch.
    Aggregation,
}

/// Names of schemes in plans before the first release, and the current ones.
const OLD_NAMES: [(&str, &str); 3] =
    [(IGNORED_SILENTLY, "atp-unlimited"), ("even", "r-inart"), ("exact", "optimal")];
/// The scheme whose plans ignored [`Limit::Aggregation`] before plans stated that.
const IGNORED_SILENTLY: &str = "atp-nocap";

impl<'de> Deserialize<'de> for Plan {
    /// Reads plans with old names of schemes under the current names. Those of `atp-nocap` ignore the
    /// switches' limits, even if they do not state it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut plan = Plan::deserialize(PLAN_FORMAT.inside(deserializer))?;
        if plan.scheme == IGNORED_SILENTLY && plan.ignores.is_empty() {
            plan.ignores.push(Limit::Aggregation);
        }
        if let Some((_, name)) = OLD_NAMES.iter().find(|(old, _)| *old == plan.scheme) {
            plan.scheme = (*name).to_owned();
        }
        Ok(plan)
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Plan::serialize(self, serializer)
    }
}

/// Differences to the active plan (in addition, shares may differ).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// Flows with another aggregator or path, or new.
    pub flows: usize,
    /// Trunks with another path, or new.
    pub trunks: usize,
}

/// Upper bounds on the rate, bit/s, of plans over the paths that the plan states ([`Plan::paths`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Optimum of the relaxation LP-InArt, Eq. (5); absent when it was not computed.
    pub lp_bps: Option<f64>,
    /// Proven bound on every plan that aggregates each gradient at most once, unsplit; with equal shares
    /// requested, on every such plan with equal shares. Proofs by integer programming hold up to a relative
    /// 1e-7.
    pub integral_bps: f64,
    /// Only in plans of two levels or more, whose rate may exceed `integral_bps`: proven bound on every plan
    /// that aggregates each gradient at most as often, unsplit, by any routes; with equal shares requested,
    /// on those with equal shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_levels_bps: Option<f64>,
}

/// A server's part of the gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Name of the server.
    pub server: String,
    /// x_s, from 0 to 1.
    pub share: f64,
}

/// Flow of one worker for one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name of the sender.
    pub worker: String,
    /// Name of the server of the shard.
    pub server: String,
    /// Switch that aggregates it; `None` (null) for a direct flow to the server.
    pub aggregator: Option<String>,
    /// Path from the worker to the aggregator, or to the server without one; both ends included.
    pub path: Vec<String>,
}

/// Sum that an aggregator sends: to the server, or (in a plan of two levels or more) to another aggregator,
/// which adds it to others like a single worker's gradient, and has its own trunk to the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trunk {
    /// Aggregating switch.
    pub aggregator: String,
    /// Server of the shard.
    pub server: String,
    /// Workers whose gradients are in the sum, in the job's order: those whose flows end at this aggregator,
    /// and those of the trunks that end here.
    pub workers: Vec<String>,
    /// Path from the aggregator to the server or to the next aggregator, both included.
    pub path: Vec<String>,
}

/// Paths of the results of one server's shard: a tree with the server as its root and the job's workers as
/// its leaves, whose inner nodes are switches. Each link of it carries each result once, so F_s of
/// [`Plan::rate_bps`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultTree {
    /// Server of the shard.
    pub server: String,
    /// Links, each from the node nearer to the server to the one farther away, parents before children.
    pub links: Vec<[String; 2]>,
}

/// The use of one resource: `link a->b`, `switch v` (its aggregation) or `server s` (its ingress).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The resource's name.
    pub resource: String,
    /// Use by this plan at `rate_bps`.
    pub used_bps: f64,
    /// Capacity without background traffic and other jobs.
    pub capacity_bps: f64,
}

/// Use of one resource by other jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherUse {
    /// The resource's name, as in [`Load`].
    pub resource: String,
    /// Use, bit/s.
    pub used_bps: f64,
}

/// Largest load over capacity per kind of resource, at the LP's rate (1 means just full), and the published
/// factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violations {
    /// The LP's rate, bit/s.
    pub at_bps: f64,
    /// Largest factor over the switches' aggregation.
    pub switch: f64,
    /// Largest factor over the servers' ingress.
    pub server: f64,
    /// Largest factor over the links.
    pub link: f64,
    /// Bounds of these factors with high probability, by the InArt paper's §4.3.
    pub published: Factors,
}

/// Approximation factors of the InArt paper's §4.3, 2 ln(n) / phi + 2 with n the number of resources of the
/// kind. They hold for switches and links. For servers they do not: the proof takes the expectation of the
/// rounded z for z~, but z is 1 as soon as one worker picks the switch, so a server receives more
/// (`planner/aggregation/README.md` has the example).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factors {
    /// Least capacity of any switch, server or link over the largest F_s, at the LP's rate (the InArt paper
    /// leaves out the servers).
    pub phi: f64,
    /// Factor of the switches' aggregation.
    pub switch: f64,
    /// Factor of the servers' ingress.
    pub server: f64,
    /// Factor of the links.
    pub link: f64,
}

fn one() -> u8 {
    1
}

fn is_one(levels: &u8) -> bool {
    *levels == 1
}

/// Text that is not a plan, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFormatError {
    /// A format that this version does not read.
    #[error(transparent)]
    Format(FormatError),
    /// Contents that are not those of a plan.
    #[error("not a plan: {0}; make one with `inart plan`, as JSON")]
    Contents(String),
}

impl From<DocumentError> for PlanFormatError {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Format(error) => PlanFormatError::Format(error),
            DocumentError::Contents(error) => PlanFormatError::Contents(one_line(error.to_string())),
        }
    }
}

impl Plan {
    /// Reads a plan from JSON. Names and numbers are only checked by [`crate::check()`].
    ///
    /// # Errors
    /// Text that is not a plan, and why.
    pub fn from_json(text: &str) -> Result<Plan, PlanFormatError> {
        Ok(PLAN_FORMAT.read(text.as_bytes())?)
    }

    /// Lowers its rate, bit/s, as if other jobs used the freed capacity of its fullest resource; does nothing
    /// for a rate that is not lower. The bounds of the routes stay.
    pub fn slow_down(&mut self, rate_bps: f64) {
        let factor = rate_bps / self.rate_bps;
        if factor >= 1.0 {
            return;
        }
        let fullness = |load: &Load| load.used_bps / load.capacity_bps;
        let fullest = self.load.iter_mut().max_by(|one, other| fullness(one).total_cmp(&fullness(other)));
        if let Some(fullest) = fullest {
            let left = fullest.capacity_bps - factor * fullest.used_bps;
            fullest.capacity_bps -= left;
            match self.other_jobs.iter_mut().find(|taken| taken.resource == fullest.resource) {
                Some(taken) => taken.used_bps += left,
                None => self.other_jobs.push(OtherUse { resource: fullest.resource.clone(), used_bps: left }),
            }
        }
        self.load.iter_mut().for_each(|load| load.used_bps *= factor);
        self.rate_bps = rate_bps;
    }

    /// Returns the differences to `running`, the active plan of the same job.
    pub fn moved_from(&self, running: &Plan) -> Moved {
        let flow = |flow: &Flow| running.flows.contains(flow);
        let trunk = |trunk: &Trunk| {
            let same = |other: &Trunk| {
                (&other.aggregator, &other.server, &other.path)
                    == (&trunk.aggregator, &trunk.server, &trunk.path)
            };
            running.trunks.iter().any(same)
        };
        Moved {
            flows: self.flows.iter().filter(|&new| !flow(new)).count(),
            trunks: self.trunks.iter().filter(|&new| !trunk(new)).count(),
        }
    }

    /// Writes it as one line of JSON, with its format first.
    pub fn to_json(&self) -> String {
        PLAN_FORMAT.write(self).expect("a plan holds only strings and finite numbers")
    }

    /// Returns the proven bound on plans of this kind: `integral_bps`, or `two_levels_bps` in a plan of more
    /// than one level.
    pub fn bound_bps(&self) -> f64 {
        self.bounds.two_levels_bps.unwrap_or(self.bounds.integral_bps)
    }

    /// Returns whether no better plan of this kind exists, up to rounding errors.
    pub fn is_proven_optimal(&self) -> bool {
        self.rate_bps >= self.bound_bps() * (1.0 - 1e-6)
    }
}
