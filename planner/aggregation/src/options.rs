//! What a scheme is, what it is asked, and how it may plan.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::choices::{Levels, Paths, Results};
use crate::plan::{Limit, Plan};
use crate::plan_error::PlanError;
use crate::router::Router;

/// A way to place aggregation: it plans, and says what its plans promise. Those that a command can be told
/// are in [`crate::schemes::ALL`]; any other is planned with in the same way, by [`Options::new`] and
/// [`crate::plan()`].
///
/// Two schemes of the same name are the same scheme.
pub trait Scheme: Send + Sync {
    /// Its name in plans and on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in one line, for docs/reference/schemes.md, `--help` and charts.
    fn summary(&self) -> &'static str;

    /// What its plans promise.
    fn promises(&self) -> Promises;

    /// Plans one job. Every worker reaches every server, and every server can take something in: that was
    /// looked at before. [`Problem::draft`] makes a plan from routes.
    ///
    /// # Errors
    /// What the scheme cannot plan.
    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError>;

    /// Plans one job in a small part of the time, for a job that is planned many times beside others.
    ///
    /// # Errors
    /// As [`Scheme::plan`].
    fn plan_quickly(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        self.plan(problem)
    }
}

/// What the plans of a scheme promise. The default is a scheme of one's own that keeps within every capacity,
/// adds each gradient up at most once, and chooses nothing for several jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promises {
    /// Limits that its plans do not keep to; each plan names them.
    pub ignores: &'static [Limit],
    /// How often its plans add a gradient up at most.
    pub levels: u8,
    /// Who decides how the gradient is cut.
    pub shares: Shares,
    /// What the InArt paper calls the published scheme that it stands for; `None` if it stands for none.
    pub stands_for: Option<&'static str>,
    /// Whether it can start from a plan in force ([`Options::running`]).
    pub starts_from_running: bool,
    /// What it makes of several jobs at the same time.
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

/// How a gradient is cut into shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// As is best for the routes; so they may be chosen anew beside other jobs' plans. Equal if
    /// [`Options::equal_shares`] asks for that.
    Free,
    /// By the scheme, before the routes.
    Fixed,
    /// The same for every server.
    Equal,
}

/// What a scheme makes of several jobs that send at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeveralJobs {
    /// Nothing: they can only be planned in turn.
    InTurn,
    /// Each is planned as if it were alone, and their rates are max-min fair.
    SideBySide,
    /// Each is planned within what the others leave, again and again, as long as that is fairer.
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

/// One job to plan on one network, within what is left of its capacities: what a scheme is given.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    pub(crate) router: &'a Router<'a>,
    pub(crate) options: &'a Options<'a>,
}

/// How to plan.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Which scheme.
    pub scheme: &'a dyn Scheme,
    /// Seeds every draw: the same inputs and seed give the same plan.
    pub seed: u64,
    /// Fix x_s = 1/S instead of choosing the shares.
    pub equal_shares: bool,
    /// How often a gradient may be added up.
    pub levels: Levels,
    /// Which paths plans may take, and bounds are proven for. Schemes that stand for published ones
    /// ([`Promises::stands_for`]) take the fewest hops that lead there in any case.
    pub paths: Paths,
    /// Whether the way back of the results counts on the links, in plans and bounds.
    pub results: Results,
    /// Seconds left to plan in, asked now and then; once there are none, a scheme that can returns the best
    /// so far. Plans made under time pressure depend on the machine, those of the default (infinity) do not.
    pub time_left: &'a dyn Fn() -> f64,
    /// The plan in force, to start from, for a scheme that can ([`Promises::starts_from_running`]; others
    /// ignore it): the result is never worse than what is left of it.
    pub running: Option<&'a Plan>,
    /// With `running`: keep its shares to the bit, as a job needs whose hosts cut tensors by them. Bounds
    /// then hold for plans with these shares.
    pub keep_shares: bool,
    /// With `running`: the part of the best rate found (0 to 1) that may be given up to leave flows as they
    /// run. At 0 only what makes the plan better moves.
    pub stable_loss: f64,
}

impl<'a> Options<'a> {
    /// Seed 1, free shares, one level, any paths, results counted, no time limit, no plan in force (whose
    /// shares would not be kept).
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

    /// The plan whose shares are to be kept.
    pub(crate) fn keeps_shares_of(&self) -> Option<&'a Plan> {
        self.running.filter(|_| self.keep_shares)
    }

    /// Whether no time is left.
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
