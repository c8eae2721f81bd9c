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
    /// Run so many random trials instead, each with a network, jobs and faults of its own, and stop at the
    /// first that fails.
    #[arg(long = "trials", value_name = "TRIALS", conflicts_with_all = ["faults", "plan", "log"])]
    pub trials: Option<u64>,
    /// Seed of the first trial.
    #[arg(long = "first-seed", default_value_t = 1)]
    pub first_seed: u64,
    /// Decides plans, gradients and faults: the same seed gives the same run, event for event.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The fault schedule and other traffic on the links: a YAML or JSON file (docs/simulation.md).
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Rounds per job, at least [default: 10; with --changes 1: rounds go on until the last change is over].
    #[arg(long)]
    pub rounds: Option<u32>,
    /// Run each job so often, one run after the other: new hosts, other gradients, the same epoch on the same
    /// switches.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// A worker of the first job whose gradient has another length, in values: the job is to end with its
    /// name.
    #[arg(long, value_name = "RANK=VALUES")]
    pub odd_length: Option<OddLength>,
    /// Let a worker of the first job skip a round. Rounds continue until the job ends by its name.
    #[arg(long, value_name = "RANK=ROUND", conflicts_with_all = ["changes", "background", "follow", "odd_length"])]
    pub skip: Option<Skip>,
    /// Tensors that each gradient is cut into, of different lengths, all in flight at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub tensors: u32,
    /// How large values are: even (up to 1), tiny (up to 1e-12), sparse (mostly zeros), outlier, wild
    /// or mixed.
    #[arg(long, default_value_t)]
    pub sizes: Sizes,
    /// Size of each gradient, like 200 KB [default: the first job's, or 200 KB; with --changes 1 MB at most].
    #[arg(long)]
    pub gradient: Option<Size>,
    /// Share of gradients with one value that is far larger than the others, like 10%.
    #[arg(long, default_value = "0")]
    pub spikes: Share,
    /// Kind of switch: v1model, tofino or tofino2. All run the compiled program in the embedded switch.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub target: SwitchKind,
    /// Values per frame: 32, 64, 256, 1024 or 2048, if the target has a program for so many; or auto: the
    /// most that the links' MTU has room for [default: the fewest that it has one for].
    #[arg(long)]
    pub values: Option<ValuesChoice>,
    /// Chunks in flight per worker and shard, a power of two.
    #[arg(long, default_value_t = 64)]
    pub window: u32,
    /// Scheme to plan all jobs with.
    #[arg(long, default_value = schemes::DEFAULT.name(), value_parser = crate::commands::scheme::parser())]
    pub scheme: &'static dyn Scheme,
    /// How often a gradient may be added up on its way: 1, or 2 for sums of sums, for schemes that do so,
    /// such as inart.
    #[arg(long = "aggregation-depth", default_value = "1")]
    pub aggregation_depth: Levels,
    /// Whether plans count results, on their way back to the workers, on the links: counted, or ignored as in
    /// the paper.
    #[arg(long, default_value_t = Results::Counted)]
    pub results: Results,
    /// Stop improving the plan after this long [default: a fixed effort, so that the plan does not depend on
    /// the machine].
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub budget: Option<Span>,
    /// Plans to run instead, as `inart plan --json` prints them, or routes as for `inart plan --complete`;
    /// only their jobs run.
    #[arg(long, value_name = "FILE", conflicts_with = "scheme")]
    pub plan: Option<PathBuf>,
    /// Change all jobs' plans so often, one change after the other, while rounds go on until the last change
    /// is over; and run the same without changes, to compare.
    #[arg(long, value_name = "N", conflicts_with_all = ["trials", "log", "faults"],
          value_parser = clap::value_parser!(u32).range(1..))]
    pub changes: Option<u32>,
    /// With --changes: hosts are told of a change at random moments within this time.
    #[arg(long = "notify-jitter", default_value = "2 ms", requires = "changes", value_name = "TIME", value_parser = span)]
    pub told_within: Span,
    /// With --changes: time from the end of one change to the beginning of the next.
    #[arg(long = "change-interval", default_value = "20 ms", requires = "changes", value_name = "TIME", value_parser = span)]
    pub change_gap: Span,
    /// With --changes: every host moves when it is told, as after a failure. Else workers learn of the change
    /// first, and follow their servers.
    #[arg(long = "uncoordinated", requires = "changes")]
    pub unled: bool,
    /// From a moment on, other traffic takes that part of the rate of a link, such as 0.5, at a constant rate
    /// whatever becomes of it. It comes in at the link's sending end.
    #[arg(long, value_name = "PART", conflicts_with_all = ["trials", "log", "changes", "runs"])]
    pub background: Option<Share>,
    /// With --background: the link, from its first end to its second [default: that between two switches
    /// which the plans load most].
    #[arg(long, value_name = "A-B", requires = "background")]
    pub background_link: Option<String>,
    /// With --background or --follow: when the traffic begins, and before which nothing is measured; at least
    /// the time of four windows.
    #[arg(long, default_value = "1 s", value_name = "TIME", value_parser = span)]
    pub background_at: Span,
    /// Plans follow what is seen of links and switches. Runs the same without following as well, and with
    /// plans that knew of the traffic from the start, to compare.
    #[arg(long, conflicts_with_all = ["trials", "log", "changes", "runs"])]
    pub follow: bool,
    /// With --follow: how often links are looked at.
    #[arg(long, default_value = "200 ms", value_name = "TIME", value_parser = span)]
    pub watch_every: Span,
    /// How long hosts wait for a silent peer.
    #[arg(long, alias = "patience", default_value = "2 s", value_name = "TIME", value_parser = span)]
    pub peer_timeout: Span,
    /// Virtual time after which a run that has not ended is a failure.
    #[arg(long, default_value = "600 s", value_name = "TIME", value_parser = span)]
    pub limit: Span,
    /// Write every event into this file, a line each.
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
    /// How many values frames have.
    pub fn values(&self) -> ValuesChoice {
        self.values.unwrap_or_else(|| ValuesChoice::Exactly(self.target.least_values()))
    }

    /// Whether the flags ask for any of this.
    pub fn watches(&self) -> bool {
        self.follow || self.background.is_some()
    }
}
