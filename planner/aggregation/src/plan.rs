//! A plan: where every worker's share of the gradient goes, who adds it up, and how fast that is.

use inart_formats::{DocumentError, Format, FormatError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::choices::Paths;
use inart_topologies::one_line;

/// Workers whose gradients one sum can hold: the bits of the header's bitmap. A larger group leaves its
/// switch as one sum for each so many workers, which all count on the links, at the next aggregator and at
/// the server.
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
    /// How often a gradient may be added up on its way: 1 as in the InArt paper (then left out of the JSON),
    /// or more, where a trunk may end at another aggregator.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub levels: u8,
    /// The paths that its flows and trunks are among, and that its bounds are proven for; absent in plans
    /// made before there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Whether it is for an exact job. Left out of the JSON if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Limits that its rate does not keep to, as its scheme promises no better; left out of the JSON if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignores: Vec<Limit>,
    /// f, bit/s: the rate at which every worker can send its whole gradient with no capacity exceeded, but
    /// for what the plan ignores.
    pub rate_bps: f64,
    /// What no plan can exceed.
    pub bounds: Bounds,
    /// How the gradient is cut: one shard per server, in the job's order; the shares sum to 1.
    pub shards: Vec<Shard>,
    /// One entry per worker and server.
    pub flows: Vec<Flow>,
    /// One entry per server and switch that adds up for it.
    pub trunks: Vec<Trunk>,
    /// The way of the results: for each server the tree over which its sums come back to the workers. Empty
    /// in plans made before there was one; then the controller takes a tree of shortest paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultTree>,
    /// Whether results count on the links in `rate_bps`, `load` and the bounds. If not (left out of the
    /// JSON), they come on top, as in the InArt paper.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub results_counted: bool,
    /// The load at `rate_bps` of every resource with a limit that the plan uses, the fullest first; plans
    /// written by hand may leave the list empty.
    pub load: Vec<Load>,
    /// What jobs planned with this one use of the same resources; the rate holds while they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_jobs: Vec<Taken>,
    /// How long planning took, in milliseconds; set by the caller, who owns a clock.
    pub solve_ms: f64,
    /// For randomised rounding: by how much the rounded plan would exceed capacities at the LP's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violations>,
    /// For a plan made from a running one: how much is not as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
}

/// A kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// C(v): what a switch can add up.
    Aggregation,
}

/// Names of schemes that plans had before the first release, and the present ones.
const OLD_NAMES: [(&str, &str); 3] =
    [(IGNORED_SILENTLY, "atp-unlimited"), ("even", "r-inart"), ("exact", "optimal")];
/// The scheme whose plans ignored [`Limit::Aggregation`] before plans stated that.
const IGNORED_SILENTLY: &str = "atp-nocap";

impl<'de> Deserialize<'de> for Plan {
    /// Reads plans with old names of schemes under the present names. Those of `atp-nocap` ignore the
    /// switches' limits, even if they do not state it. A plan in a list of plans may have its format.
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

/// What differs from the plan in force (shares may differ besides).
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
    /// Proven bound on every plan that adds each gradient up at most once, unsplit; with equal shares asked
    /// for, on every such plan with equal shares. Proofs by integer programming hold up to a relative 1e-7.
    pub integral_bps: f64,
    /// Only in plans of two levels or more, whose rate may exceed `integral_bps`: proven bound on every plan
    /// that adds each gradient up at most as often, unsplit, by any routes; with equal shares asked for, on
    /// those with equal shares.
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

/// What one worker sends for one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name of the sender.
    pub worker: String,
    /// Name of the server whose shard it is.
    pub server: String,
    /// The switch that adds it up; `None` (null) means straight to the server.
    pub aggregator: Option<String>,
    /// From the worker to the aggregator, or to the server when there is none; both ends included.
    pub path: Vec<String>,
}

/// The sum that an aggregator sends on: to the server, or (in a plan of two levels or more) to another
/// aggregator, which adds it to others as if a single worker had sent it, and has a trunk of its own to the
/// server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trunk {
    /// The switch that adds up.
    pub aggregator: String,
    /// The server whose shard it is.
    pub server: String,
    /// The workers whose gradients are in the sum, in the job's order: those whose flows end at this
    /// aggregator, and those of the trunks that end here.
    pub workers: Vec<String>,
    /// From the aggregator to the server or to the next aggregator, both included.
    pub path: Vec<String>,
}

/// How the sums of one server's shard come back: a tree with the server as its root and the job's workers as
/// its leaves, whose inner nodes are switches. Each link of it carries each result once, so F_s of
/// [`Plan::rate_bps`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultTree {
    /// The server whose shard it is.
    pub server: String,
    /// Its links, each from the node nearer to the server to the one farther away, parents before children.
    pub links: Vec<[String; 2]>,
}

/// The use of one resource: `link a->b`, `switch v` (its aggregation) or `server s` (its ingress).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The resource's name.
    pub resource: String,
    /// What this plan uses of it at `rate_bps`.
    pub used_bps: f64,
    /// What is there, background and other jobs taken off.
    pub capacity_bps: f64,
}

/// What other jobs use of one resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The resource's name, as in [`Load`].
    pub resource: String,
    /// Their use, bit/s.
    pub used_bps: f64,
}

/// Largest load over capacity per kind of resource, at the LP's rate (1 means just full), and what was
/// published for it.
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
    /// What the InArt paper's §4.3 says that these factors do not exceed, with high probability.
    pub published: Factors,
}

/// The approximation factors of the InArt paper's §4.3, 2 ln(n) / phi + 2 with n the number of resources of
/// the kind. They hold for switches and links. For servers they do not: the proof takes the expectation of
/// the rounded z for z~, but z is 1 as soon as one worker picks the switch, so a server takes in more
/// (`planner/aggregation/README.md` has the example).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factors {
    /// The least capacity of any switch, server or link over the largest F_s, at the LP's rate (the InArt
    /// paper leaves out the servers).
    pub phi: f64,
    /// For the switches' aggregation.
    pub switch: f64,
    /// For the servers' ingress.
    pub server: f64,
    /// For the links.
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

    /// Lowers its rate, bit/s, as if other jobs used what that leaves of its fullest resource; to a rate that
    /// is not lower, nothing is done. The bounds stay: they are the routes'.
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
                None => self.other_jobs.push(Taken { resource: fullest.resource.clone(), used_bps: left }),
            }
        }
        self.load.iter_mut().for_each(|load| load.used_bps *= factor);
        self.rate_bps = rate_bps;
    }

    /// How much of it is not as in `running`, the plan in force of the same job.
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

    /// The proven bound on plans of this one's kind: `integral_bps`, or `two_levels_bps` in a plan of more
    /// than one level.
    pub fn bound_bps(&self) -> f64 {
        self.bounds.two_levels_bps.unwrap_or(self.bounds.integral_bps)
    }

    /// Whether no better plan of this kind exists, up to rounding errors.
    pub fn is_proven_optimal(&self) -> bool {
        self.rate_bps >= self.bound_bps() * (1.0 - 1e-6)
    }
}
