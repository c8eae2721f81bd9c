//! Schemes, their input, and planning options.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::choices::{Levels, Paths, Results};
use crate::plan::{Limit, Plan};
use crate::plan_error::PlanError;
use crate::router::Router;

/// A planning scheme: computes plans, and declares what they promise. [`crate::schemes::ALL`] has those
/// available to commands; any other is used in the same way, by [`Options::new`] and [`crate::plan()`].
///
/// Two schemes of the same name are the same scheme.
pub trait Scheme: Send + Sync {
    /// Returns the name in plans and on the command line.
    fn name(&self) -> &'static str;

    /// Returns a one-line summary for docs/reference/schemes.md, `--help` and charts.
    fn summary(&self) -> &'static str;

    /// Returns the promises of its plans.
    fn promises(&self) -> Promises;

    /// Plans one job. The caller has checked that every worker reaches every server, and every server can
    /// receive. [`Problem::draft`] makes a plan from routes.
    ///
    /// # Errors
    ///
    /// The problem is outside the scheme's abilities.
    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError>;

    /// Plans one job in a small part of the time, for a job that is planned many times next to others.
    ///
    /// # Errors
    /// As [`Scheme::plan`].
    fn plan_quickly(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        self.plan(problem)
    }
}

/// Promises of a scheme's plans. The default is a custom scheme that respects every capacity, aggregates each
/// gradient at most once, and chooses nothing for several jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promises {
    /// Limits that its plans do not keep to; each plan names them.
    pub ignores: &'static [Limit],
    /// Largest number of aggregations of a gradient.
    pub levels: u8,
    /// Rule for the partition of the gradient.
    pub shares: Shares,
    /// Name of the published scheme in the InArt paper; `None` if it is not a published one.
    pub stands_for: Option<&'static str>,
    /// Whether it can start from an active plan ([`Options::running`]).
    pub starts_from_running: bool,
    /// Support of several jobs at the same time.
    pub several_jobs: SeveralJobs,
    /// Whether it refuses large networks.
    pub small_networks_only: bool,
}

impl Default for Promises {
    fn default() -> Self {
        Promises {
            ignores: &[],
            levels: 1,
            shares: Shares::Fixed,
            stands_for: None,
            starts_from_running: false,
            several_jobs: SeveralJobs::SideBySide,
            small_networks_only: false,
        }
    }
}

/// Rule for the partition of a gradient into shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// Best for the routes; so shares may be chosen again next to other jobs' plans. Equal if
    /// [`Options::equal_shares`] asks for that.
    Free,
    /// Chosen by the scheme, before the routes.
    Fixed,
    /// Equal for every server.
    Equal,
}

/// A scheme's support of several jobs that send at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeveralJobs {
    /// Planning in turn only.
    InTurn,
    /// Each is planned as if it were alone, and their rates are max-min fair.
    SideBySide,
    /// Planning within the capacity that the others leave, repeated as long as that is fairer.
    Together,
}

impl fmt::Display for dyn Scheme + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for dyn Scheme + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for dyn Scheme + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Scheme + '_ {}

impl Hash for dyn Scheme + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// Input of a scheme: one job to plan on one network, within its available capacities.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    pub(crate) router: &'a Router<'a>,
    pub(crate) options: &'a Options<'a>,
}

/// Planning options.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Scheme.
    pub scheme: &'a dyn Scheme,
    /// Seeds every draw: the same inputs and seed give the same plan.
    pub seed: u64,
    /// Fix x_s = 1/S instead of choosing the shares.
    pub equal_shares: bool,
    /// Number of aggregations of a gradient.
    pub levels: Levels,
    /// Paths that plans may use, and bounds hold for. Published schemes ([`Promises::stands_for`]) use paths
    /// with the fewest hops in any case.
    pub paths: Paths,
    /// Whether result traffic counts on the links, in plans and bounds.
    pub results: Results,
    /// Returns the remaining planning time in seconds, polled now and then; at zero, a scheme that supports
    /// it returns the best plan so far. Plans made under time pressure depend on the machine, those of the
    /// default (infinity) do not.
    pub time_left: &'a dyn Fn() -> f64,
    /// Active plan to start from, for a scheme that supports it ([`Promises::starts_from_running`]; others
    /// ignore it): the result is never worse than the usable part of it.
    pub running: Option<&'a Plan>,
    /// With `running`: keep its shares bit for bit, as a job needs whose hosts cut tensors by them. Bounds
    /// then hold for plans with these shares.
    pub keep_shares: bool,
    /// With `running`: share of the best rate found (0 to 1) that may be lost to keep flows unchanged. At 0
    /// only changes that improve the plan are made.
    pub stable_loss: f64,
}

impl<'a> Options<'a> {
    /// Creates options with seed 1, free shares, one level, any paths, results counted, no time limit, no
    /// active plan (whose shares would not be kept).
    pub fn new(scheme: &'a dyn Scheme) -> Self {
        Options {
            scheme,
            seed: 1,
            equal_shares: false,
            levels: Levels::One,
            paths: Paths::Any,
            results: Results::Counted,
            time_left: &|| f64::INFINITY,
            running: None,
            keep_shares: false,
            stable_loss: 0.0,
        }
    }

    /// Returns the plan whose shares are to be kept.
    pub(crate) fn keeps_shares_of(&self) -> Option<&'a Plan> {
        self.running.filter(|_| self.keep_shares)
    }

    /// Returns whether no time is left.
    pub(crate) fn out_of_time(&self) -> bool {
        (self.time_left)() <= 0.0
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("scheme", &self.scheme)
            .field("seed", &self.seed)
            .field("equal_shares", &self.equal_shares)
            .field("keep_shares", &self.keep_shares)
            .field("stable_loss", &self.stable_loss)
            .field("levels", &self.levels)
            .field("paths", &self.paths)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}
