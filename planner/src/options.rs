//! What to plan with, and why planning can fail.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// How to place aggregation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Ours: never worse than the best of R-InArt, with a proven bound.
    Inart,
    /// The paper's: LP-InArt and randomised rounding (Alg. 2), shares from phase 1.
    RInart,
    /// ATP: aggregation at the worker's own switch, within its capacity; equal shares.
    Atp,
    /// ATP with C(v) ignored, as in the paper's figures; its plans overload switches.
    AtpNocap,
    /// Load-balanced many-to-many: no aggregation; equal shares.
    Lbmm,
    /// Equal shares and R-InArt's rounding.
    Even,
    /// The optimum of Eq. (1) by integer programming; for small networks.
    Exact,
}

impl Scheme {
    /// Every scheme, ours first.
    pub const ALL: [Scheme; 7] = [
        Scheme::Inart,
        Scheme::RInart,
        Scheme::Atp,
        Scheme::AtpNocap,
        Scheme::Lbmm,
        Scheme::Even,
        Scheme::Exact,
    ];

    /// Its name in plans and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Inart => "inart",
            Scheme::RInart => "r-inart",
            Scheme::Atp => "atp",
            Scheme::AtpNocap => "atp-nocap",
            Scheme::Lbmm => "lbmm",
            Scheme::Even => "even",
            Scheme::Exact => "exact",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == text).ok_or_else(|| {
            let names: Vec<_> = Scheme::ALL.iter().map(|scheme| scheme.name()).collect();
            format!("unknown scheme \"{text}\"; one of {}", names.join(", "))
        })
    }
}

/// How often a gradient may be added up on its way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Levels {
    /// At most once, as in the paper.
    #[default]
    One,
    /// At most twice: a sum may be added to others at a second switch. Scheme `inart` only.
    Two,
}

impl Levels {
    /// The number, as in plans.
    pub fn number(self) -> u8 {
        match self {
            Levels::One => 1,
            Levels::Two => 2,
        }
    }
}

impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1" => Ok(Levels::One),
            "2" => Ok(Levels::Two),
            _ => Err("a gradient is added up at most 1 or 2 times".to_owned()),
        }
    }
}

/// The paths that flows and trunks may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paths {
    /// Every simple path over switches: no node twice, each link with capacity left.
    #[default]
    Any,
    /// Only those with the fewest hops in the network as it is built, whatever traffic there is: the sets P of the paper.
    Shortest,
}

impl Paths {
    /// Its name in plans and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Paths::Any => "any",
            Paths::Shortest => "shortest",
        }
    }
}

impl fmt::Display for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Paths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => Ok(Paths::Any),
            "shortest" => Ok(Paths::Shortest),
            _ => Err(format!("unknown paths \"{text}\"; any or shortest")),
        }
    }
}

/// Whether the way back of the results counts on the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Results {
    /// Each link direction carries the results that cross it besides gradients and sums.
    #[default]
    Counted,
    /// As in the paper, whose model has no results: they come on top.
    Ignored,
}

impl Results {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Results::Counted => "counted",
            Results::Ignored => "ignored",
        }
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Results {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "counted" => Ok(Results::Counted),
            "ignored" => Ok(Results::Ignored),
            _ => Err(format!("results cannot be \"{text}\"; counted or ignored")),
        }
    }
}

/// How to plan.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Which scheme.
    pub scheme: Scheme,
    /// Seeds every draw: the same inputs and seed give the same plan.
    pub seed: u64,
    /// Fix x_s = 1/S instead of choosing the shares.
    pub equal_shares: bool,
    /// How often a gradient may be added up.
    pub levels: Levels,
    /// Which paths plans may take, and bounds are proven for. The schemes that stand for other people's work (r-inart, even,
    /// atp, lbmm) take the fewest hops that lead there in any case.
    pub paths: Paths,
    /// Whether the way back of the results counts on the links, in plans and bounds.
    pub results: Results,
    /// Seconds left to plan in, asked now and then; once there are none, the scheme inart returns the best so far.
    /// Plans made under time pressure depend on the machine, those of the default (infinity) do not.
    pub time_left: &'a dyn Fn() -> f64,
    /// The plan in force, for the scheme inart to start from: the result is never worse than what is left of it.
    pub running: Option<&'a Plan>,
    /// With `running`: the part of the best rate found (0 to 1) that may be given up to leave flows as they run.
    /// At 0 only what makes the plan better moves.
    pub stable_loss: f64,
}

impl Options<'_> {
    /// Seed 1, free shares, one level, any paths, results counted, no time limit, no plan in force.
    pub fn new(scheme: Scheme) -> Self {
        Options {
            scheme,
            seed: 1,
            equal_shares: false,
            levels: Levels::One,
            paths: Paths::Any,
            results: Results::Counted,
            time_left: &|| f64::INFINITY,
            running: None,
            stable_loss: 0.0,
        }
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
            .field("stable_loss", &self.stable_loss)
            .field("levels", &self.levels)
            .field("paths", &self.paths)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Background traffic leaves no route.
    #[error(
        "job {job}: background traffic leaves worker {worker} no route to server {server}; lower it or raise a link's rate"
    )]
    Unreachable {
        /// The job.
        job: String,
        /// The worker.
        worker: String,
        /// The server.
        server: String,
    },
    /// Background traffic leaves results no way back.
    #[error(
        "job {job}: background traffic leaves results of server {server} no way back to worker {worker}; lower it, raise a \
         link's rate, or leave results out of account"
    )]
    NoWayBack {
        /// The job.
        job: String,
        /// The server.
        server: String,
        /// The worker.
        worker: String,
    },
    /// A resource that every plan needs is used up by background traffic.
    #[error("job {job}: nothing is left of {resource}; lower its background traffic or raise its capacity")]
    Exhausted {
        /// The job.
        job: String,
        /// The resource.
        resource: String,
    },
    /// Planned in turn, the jobs before this one leave it nothing of something it needs.
    #[error("job {job}: the jobs before it leave {left_out}; plan it before them, or all together")]
    TakenBefore {
        /// The job.
        job: String,
        /// What is missing, in words.
        left_out: String,
    },
    /// The scheme has no way to plan several jobs together.
    #[error("the scheme {scheme} plans one job; use inart, or plan the jobs in turn")]
    OneJob {
        /// The scheme.
        scheme: Scheme,
    },
    /// Two levels asked of several jobs together.
    #[error("jobs planned together have one level; plan them in turn, or with one level")]
    OneLevel,
    /// A running plan to start several jobs from.
    #[error("a running plan is of one job, and there are several; start one job from it")]
    OneRunning,
    /// The running plan shares resources with other jobs, whose plans are not known here.
    #[error("job {job}: its running plan was made beside other jobs; plan all of them anew")]
    Beside {
        /// The job.
        job: String,
    },
    /// The network is too large for `exact`.
    #[error(
        "job {job}: too large for the scheme exact; use inart, which states how far it can be from the best"
    )]
    TooLarge {
        /// The job.
        job: String,
    },
    /// The plan to start from is not one of this job on this network.
    #[error(
        "job {job}: the running plan is for {what}; start from a plan of this job on this topology, or from none"
    )]
    Foreign {
        /// The job to plan.
        job: String,
        /// What the running plan is for.
        what: String,
    },
    /// Two levels asked of a scheme that has one.
    #[error("scheme {scheme}: two levels need the scheme inart and no running plan to start from")]
    Levels {
        /// The scheme.
        scheme: Scheme,
    },
    /// The LP solver failed.
    #[error(
        "job {job}: the LP solver gave up ({reason}); check that the rates are within a factor of 1e9 of each other"
    )]
    Solver {
        /// The job.
        job: String,
        /// What it said.
        reason: String,
    },
}
