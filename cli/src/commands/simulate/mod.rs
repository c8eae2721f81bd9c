//! `inart simulate`.

mod changes;
mod soak;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use inart_controller::ValuesChoice;
use inart_faults::quantity::{Share, Span};
use inart_faults::{Faults, Schedule};
use inart_planner::units::Size;
use inart_planner::{Levels, Plan, Results, Scheme, Topology, plan_all, schemes};
use inart_simulator::gradients::Sizes;
use inart_simulator::{CAPABILITIES, Dataplane, InstalledNetwork, OddLength, Options, simulate};
use inart_wire::ValuesPerPacket;

use super::output::print;

/// More rounds than anybody waits for.
const MAX_ROUNDS: u32 = 1_000_000;

/// Arguments of `inart simulate`.
#[derive(clap::Args)]
pub struct Args {
    /// The network and its jobs: a YAML or JSON file.
    #[arg(required_unless_present = "soak")]
    topology: Option<PathBuf>,
    /// Run so many random trials instead, each with a network, jobs and faults of its own, and stop at the
    /// first that fails.
    #[arg(long, value_name = "TRIALS", conflicts_with_all = ["topology", "faults", "plan", "log"])]
    soak: Option<u64>,
    /// Seed of the first trial.
    #[arg(long, default_value_t = 1, requires = "soak")]
    first: u64,
    /// Decides plans, gradients and faults: the same seed gives the same run, event for event.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The fault schedule and other traffic on the links: a YAML or JSON file (docs/simulation.md).
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Rounds per job.
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// Run each job so often, one run after the other: new hosts, other gradients, the same epoch on the same
    /// switches.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A worker of the first job whose gradient has another length, in values: the job is to end with its
    /// name.
    #[arg(long, value_name = "RANK=VALUES")]
    odd_length: Option<OddLength>,
    /// Tensors that each gradient is cut into, of different lengths, all in flight at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    tensors: u32,
    /// How large values are: even (up to 1), tiny (up to 1e-12), sparse (mostly zeros), outlier or wild.
    #[arg(long, default_value_t)]
    sizes: Sizes,
    /// Size of each gradient, like 200 KB [default: the first job's, or 200 KB].
    #[arg(long)]
    gradient: Option<Size>,
    /// Share of gradients with a value that is far larger than those before, like 10%.
    #[arg(long, default_value = "0")]
    spikes: Share,
    /// Values per frame: 32, 64, 256, 1024 or 2048; or auto: the most that the links' MTU has room for.
    #[arg(long, default_value_t = ValuesChoice::Exactly(ValuesPerPacket::N32))]
    values: ValuesChoice,
    /// Chunks in flight per worker and shard, a power of two.
    #[arg(long, default_value_t = 64)]
    window: u32,
    /// Scheme to plan all jobs with.
    #[arg(long, default_value = schemes::DEFAULT.name(), value_parser = super::scheme::parser())]
    scheme: &'static dyn Scheme,
    /// How often a gradient may be added up on its way: 1, or 2 for sums of sums, for schemes that do so,
    /// such as inart.
    #[arg(long, default_value = "1")]
    levels: Levels,
    /// Whether plans count results, on their way back to the workers, on the links: counted, or ignored as in
    /// the paper.
    #[arg(long, default_value_t = Results::Counted)]
    results: Results,
    /// Stop improving the plan after this long [default: a fixed effort, so that the plan does not depend on
    /// the machine].
    #[arg(long)]
    budget: Option<Span>,
    /// Plans to run instead, as `inart plan --json` prints them; only their jobs run.
    #[arg(long, value_name = "FILE", conflicts_with = "scheme")]
    plan: Option<PathBuf>,
    /// Change all jobs' plans so often, one change after the other, while rounds go on until the last change is
    /// over; and run the same without changes, to compare.
    #[arg(long, value_name = "N", conflicts_with_all = ["soak", "log", "faults"],
          value_parser = clap::value_parser!(u32).range(1..))]
    changes: Option<u32>,
    /// With --changes: hosts are told of a change at random moments within this time.
    #[arg(long, default_value = "2 ms", requires = "changes")]
    told_within: Span,
    /// With --changes: time from the end of one change to the beginning of the next.
    #[arg(long, default_value = "20 ms", requires = "changes")]
    change_gap: Span,
    /// With --changes: every host moves when it is told, as after a failure. Else workers learn of the change
    /// first, and follow their servers.
    #[arg(long, requires = "changes")]
    unled: bool,
    /// How long hosts wait for a silent peer.
    #[arg(long, alias = "patience", default_value = "2 s")]
    peer_timeout: Span,
    /// Virtual time after which a run that has not ended is a failure.
    #[arg(long, default_value = "600 s")]
    limit: Span,
    /// Write every event into this file, a line each.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Runs the command. A run that fails, rather than being impossible, ends with status 1.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    if let Some(trials) = args.soak {
        return soak::run(args.first, trials, json);
    }
    let Question { network, faults, options } = Question::new(&args)?;
    if let Some(changes) = &options.changes {
        return changes::run(&network, &options, changes, json);
    }
    let mut log = match &args.log {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("--log {}", path.display()))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let start = Instant::now();
    let report = simulate(&network, &faults, &options, log.as_mut().map(|log| log as &mut dyn Write))
        .map_err(with_flag)?;
    let hops_per_second = report.packet_hops as f64 / start.elapsed().as_secs_f64().max(1e-9);
    if let Some(mut log) = log {
        log.flush().context("--log")?;
    }
    if json {
        let mut document = serde_json::to_value(&report)?;
        document["packet_hops_per_second"] = hops_per_second.into();
        print(&format!("{}\n", serde_json::to_string_pretty(&document)?))?;
    } else {
        print(&format!("{report}{hops_per_second:.0} packet-hops/s\n"))?;
    }
    Ok(match &report.failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    })
}

/// What one run simulates.
struct Question {
    network: InstalledNetwork,
    faults: Faults,
    options: Options,
}

impl Question {
    fn new(args: &Args) -> anyhow::Result<Self> {
        let topology = super::topology::read(args.topology.as_deref().unwrap_or(Path::new("")))?;
        let faults =
            args.faults.as_deref().map_or(Ok(Faults::default()), |path| read_faults(path, &topology))?;
        let mut options = options(args, &topology)?;
        let plans = match &args.plan {
            Some(path) => super::plan::read_all(&topology, path)?,
            None => plan(&topology, args)?,
        };
        if let Some(count) = args.changes {
            options.changes = Some(changes::of(args, count, &topology, &plans)?);
        }
        let has_program = |values| inart_targets::DEFAULT.has_program(values, None);
        let values = args.values.of(&topology, None, has_program).context("--values")?;
        let mut network =
            InstalledNetwork::install(&topology, &Arc::new(Dataplane::new(values)?), &plans, args.window)?;
        if let Some(other) = options.changes.as_ref().and_then(|changes| changes.plans.first()) {
            network.limit_rates(&other.iter().map(|plan| plan.rate_bps).collect::<Vec<_>>());
        }
        Ok(Self { network, faults, options })
    }
}

/// The faults of a file, which fit the topology and what the simulator can do.
fn read_faults(path: &Path, topology: &Topology) -> anyhow::Result<Faults> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| place.clone())?;
    let faults = Faults::from_yaml(&text).with_context(|| place.clone())?;
    Schedule::new(topology, &faults, &CAPABILITIES).context(place)?;
    Ok(faults)
}

/// What the flags say of the run.
fn options(args: &Args, topology: &Topology) -> anyhow::Result<Options> {
    ensure!(
        (1..=MAX_ROUNDS).contains(&args.rounds),
        "--rounds: {}; give a number from 1 to {MAX_ROUNDS}",
        args.rounds
    );
    ensure!(
        args.window.is_power_of_two() && args.window <= inart_p4::SLOTS,
        "--window: {}; give a power of two from 1 to {}",
        args.window,
        inart_p4::SLOTS
    );
    ensure!(args.peer_timeout > Span(0), "--peer-timeout: hosts need some time; give one like 2 s");
    let default = topology.jobs()[0].gradient_bytes.map_or(200e3, |bytes| bytes as f64);
    let gradient_bytes = args.gradient.map_or(default, |size| size.0);
    ensure!(
        (4.0..=4e9).contains(&gradient_bytes),
        "--gradient: {gradient_bytes} B; give from one value, 4 B, to 4 GB"
    );
    Ok(Options {
        rounds: args.rounds,
        runs: args.runs,
        odd_length: args.odd_length,
        tensors: args.tensors,
        sizes: args.sizes,
        gradient_values: (gradient_bytes / 4.0) as usize,
        spikes: args.spikes,
        seed: args.seed,
        peer_timeout: Duration::from_nanos(args.peer_timeout.0),
        limit: args.limit,
        ..Options::default()
    })
}

/// Names the flag of a setting that the simulator refuses.
fn with_flag(error: inart_simulator::Error) -> anyhow::Error {
    match error {
        inart_simulator::Error::Option { option, problem } => {
            anyhow::anyhow!("--{}: {problem}", option.replace(' ', "-"))
        }
        error => error.into(),
    }
}

fn plan(topology: &Topology, args: &Args) -> anyhow::Result<Vec<Plan>> {
    let start = Instant::now();
    let time_left =
        || args.budget.map_or(f64::INFINITY, |budget| budget.0 as f64 / 1e9 - start.elapsed().as_secs_f64());
    let how = inart_planner::Options {
        seed: args.seed,
        levels: args.levels,
        results: args.results,
        time_left: &time_left,
        ..inart_planner::Options::new(args.scheme)
    };
    Ok(plan_all(topology, &how)?)
}
