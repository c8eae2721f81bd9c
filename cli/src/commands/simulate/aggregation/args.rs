//! The flags of `inart simulate`.

use std::path::PathBuf;

use inart_controller::ValuesChoice;
use inart_planner_aggregation::{Levels, Results, Scheme, schemes};
use inart_simulator_aggregation::gradients::Sizes;
use inart_simulator_aggregation::{OddLength, Skip, SwitchKind};
use inart_topologies::faults::quantity::{Share, Span};
use inart_topologies::units::Size;

use crate::commands::values::span;

/// Arguments of `inart simulate`.
#[derive(clap::Args)]
pub struct Args {
    /// Run this many random trials, and stop at the first failure.
    ///
    /// Each trial draws a network, jobs and faults. No NETWORK is given.
    #[arg(long = "trials", value_name = "TRIALS", conflicts_with_all = ["faults", "plan", "log"])]
    pub trials: Option<u64>,
    /// With --trials: seed of the first trial.
    #[arg(long = "first-seed", default_value_t = 1)]
    pub first_seed: u64,
    /// Random seed of plans, gradients and faults; the same seed gives the same events.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Schedule of faults and background traffic (YAML or JSON; docs/how-to/inject-faults.md).
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Least rounds per job [default: 10; with --changes 1, until the last change is over].
    #[arg(long)]
    pub rounds: Option<u32>,
    /// Runs of each job, one after the other, on the same plan version and switches.
    ///
    /// Each run has new hosts and other gradients.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Give a worker of the first job a gradient of another length; the job must abort.
    #[arg(long, value_name = "RANK=VALUES")]
    pub odd_length: Option<OddLength>,
    /// Let a worker of the first job skip a round. Rounds continue until the job ends by its name.
    #[arg(long, value_name = "RANK=ROUND", conflicts_with_all = ["changes", "background", "follow", "odd_length"])]
    pub skip: Option<Skip>,
    /// Tensors per gradient, of different lengths, all in flight at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub tensors: u32,
    /// Sizes of values: even (up to 1), tiny (1e-12), sparse, outlier, wild or mixed.
    #[arg(long, default_value_t)]
    pub sizes: Sizes,
    /// Size of each gradient, such as 200 KB.
    ///
    /// [default: the first job's, or 200 KB; with --changes 1 MB at most].
    #[arg(long)]
    pub gradient: Option<Size>,
    /// Share of gradients with one value far above the others, such as 10%.
    #[arg(long, default_value = "0")]
    pub spikes: Share,
    /// Kind of the switches: v1model, tofino or tofino2; the embedded switch runs all.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub target: SwitchKind,
    /// Values per frame: 32, 64, 256, 1024, 2048 or auto (the most that the links' MTU allows).
    ///
    /// [default: the fewest that the target has a program for].
    #[arg(long)]
    pub values: Option<ValuesChoice>,
    /// Chunks in flight per worker and shard: a power of two.
    #[arg(long, default_value_t = 64)]
    pub window: u32,
    /// Scheme of all jobs' plans.
    #[arg(long, default_value = schemes::DEFAULT.name(), value_parser = crate::commands::scheme::parser())]
    pub scheme: &'static dyn Scheme,
    /// Maximum number of aggregation switches per gradient (1 or 2; 2 only for optimized).
    #[arg(long = "aggregation-depth", default_value = "1")]
    pub aggregation_depth: Levels,
    /// Whether plans count result traffic on links: counted, or ignored (InArt paper).
    #[arg(long, default_value_t = Results::Counted)]
    pub results: Results,
    /// Time limit of the planner [default: fixed effort, so plans do not depend on the machine].
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub budget: Option<Span>,
    /// Plans to run, as `inart plan --json` prints them, or routes as for its --complete.
    ///
    /// Only the plans' jobs run.
    #[arg(long, value_name = "FILE", conflicts_with = "scheme")]
    pub plan: Option<PathBuf>,
    /// Number of plan changes, one after the other; compares with a run without changes.
    ///
    /// Rounds continue until the last change is over.
    #[arg(long, value_name = "N", conflicts_with_all = ["trials", "log", "faults"],
          value_parser = clap::value_parser!(u32).range(1..))]
    pub changes: Option<u32>,
    /// With --changes: longest delay of the notice of a change at a host; drawn at random.
    #[arg(long = "notify-jitter", default_value = "2 ms", requires = "changes", value_name = "TIME", value_parser = span)]
    pub notified_within: Span,
    /// With --changes: time from the end of one change to the start of the next.
    #[arg(long = "change-interval", default_value = "20 ms", requires = "changes", value_name = "TIME", value_parser = span)]
    pub change_gap: Span,
    /// Migrate each host immediately instead of letting servers coordinate the cut-over.
    #[arg(long = "uncoordinated", requires = "changes")]
    pub unled: bool,
    /// Part of a link's rate that other traffic takes, such as 0.5, at a constant rate.
    ///
    /// The traffic enters at the link's sending end and does not react to congestion.
    #[arg(long, value_name = "PART", conflicts_with_all = ["trials", "log", "changes", "runs"])]
    pub background: Option<Share>,
    /// With --background: link of the traffic, from its first end to its second.
    ///
    /// [default: the link between two switches with the greatest planned load].
    #[arg(long, value_name = "A-B", requires = "background")]
    pub background_link: Option<String>,
    /// With --background or --follow: start of the traffic and of measurements.
    ///
    /// At least the time of four windows.
    #[arg(long, default_value = "1 s", value_name = "TIME", value_parser = span)]
    pub background_at: Span,
    /// Let plans follow failures and measured traffic; compares with runs that do not.
    ///
    /// A third run has plans that know of the traffic from the start.
    #[arg(long, conflicts_with_all = ["trials", "log", "changes", "runs"])]
    pub follow: bool,
    /// With --follow: time between readings of the links' counters.
    #[arg(long, default_value = "200 ms", value_name = "TIME", value_parser = span)]
    pub watch_every: Span,
    /// Abort a job after this long without frames from a host that others wait for.
    #[arg(long, alias = "patience", default_value = "2 s", value_name = "TIME", value_parser = span)]
    pub peer_timeout: Span,
    /// Virtual time after which an unfinished run fails.
    #[arg(long, default_value = "600 s", value_name = "TIME", value_parser = span)]
    pub limit: Span,
    /// File for all events, one per line.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// Names the flag of a setting that the simulator refuses.
pub fn with_flag(error: inart_simulator_aggregation::Error) -> anyhow::Error {
    match error {
        inart_simulator_aggregation::Error::Option { option, problem } => {
            anyhow::anyhow!("--{}: {problem}", option.replace(' ', "-"))
        }
        error => error.into(),
    }
}

impl Args {
    /// Returns the number of values per frame.
    pub fn values(&self) -> ValuesChoice {
        self.values.unwrap_or_else(|| ValuesChoice::Exactly(self.target.least_values()))
    }

    /// Whether the flags ask for any of this.
    pub fn watches(&self) -> bool {
        self.follow || self.background.is_some()
    }
}
