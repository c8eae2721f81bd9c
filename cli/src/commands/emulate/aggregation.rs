//! `inart emulate`.

mod own;
mod program;
mod progress;
pub mod refused;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use inart_controller::ValuesChoice;
use inart_emulator::aggregation::chart;
use inart_emulator::aggregation::external::ExternalTestbed;
use inart_emulator::aggregation::figures::Summary;
use inart_emulator::machine::fault::DropRate;
use inart_emulator::machine::scale::Scale;
use inart_emulator::{Measured, Options, Work, Workload, emulate};
use inart_planner_aggregation::{Levels, Results, Scheme};
use inart_targets::Target;
use inart_topologies::Switched;
use inart_topologies::faults::Faults;
use inart_topologies::switched::Topology;
use inart_topologies::units::Size;
use inart_wire::ValuesPerFrame;

use crate::commands::document::refuse_network;
use crate::commands::drawing::{try_file, write_file};
use crate::commands::output::print;
use crate::commands::values::duration;
use crate::line::section::{SWITCHES, Section};
use crate::line::{Invocation, OnNetwork};
use progress::{progress_bar, show};
use refused::with_flag;

/// Arguments of `inart emulate`.
#[derive(clap::Args)]
pub struct Args {
    /// Schemes to compare [default: optimized,atp,lbmm,r-inart; optimized with a program, --changes or
    /// --timeline].
    #[arg(long, value_delimiter = ',', value_parser = crate::commands::scheme::parser())]
    schemes: Vec<&'static dyn Scheme>,
    #[command(flatten)]
    own: own::OwnArgs,
    /// Maximum number of aggregation switches per gradient (1 or 2; 2 only for optimized).
    #[arg(long = "aggregation-depth", default_value = "1")]
    aggregation_depth: Levels,
    /// Whether plans count result traffic on links: counted, or ignored (InArt paper).
    #[arg(long, default_value_t = Results::Counted)]
    results: Results,
    /// Rounds per job and scheme [default: 100; with --changes at least 5 for each].
    #[arg(long)]
    rounds: Option<u32>,
    /// Sum random gradients of this size, such as 97KB, in place of training.
    ///
    /// The output compares the measured rate with the planned rate.
    #[arg(long, value_name = "SIZE", conflicts_with = "batch")]
    gradient: Option<Size>,
    /// Number of concurrent jobs: the topology's first ones, and copies if it has fewer.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Kind of the switches: v1model, tofino or tofino2.
    ///
    /// Embedded switches run the program for the chip; tofino and tofino2 are driven by BFRuntime.
    #[arg(long, value_name = "NAME", default_value = inart_targets::DEFAULT.name(), value_parser = crate::commands::control::parse_target)]
    target: &'static dyn Target,
    /// Values per frame: 32, 64, 256, 1024, 2048 or auto.
    ///
    /// auto is the most that the links' MTU and one pass through the target allow, and at most 256 with
    /// --switch.
    #[arg(long, default_value_t = ValuesChoice::Auto)]
    values: ValuesChoice,
    /// Chunks in flight per worker and shard: a power of two.
    #[arg(long, default_value_t = 64)]
    window: u32,
    /// Images per worker and round [default: 32].
    #[arg(long)]
    batch: Option<usize>,
    /// Factor on the topology's rates, such as 1/200 [default: the most that this machine carries].
    #[arg(long)]
    scale: Option<Scale>,
    /// Share of frames that every link drops, such as 1%.
    #[arg(long, default_value = "0")]
    drop: DropRate,
    /// Fault schedule (YAML or JSON), as for `inart simulate` (docs/how-to/inject-faults.md).
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Abort the job after this long without frames from a host that others wait for.
    ///
    /// The default is longer than that of `inart host`, because all processes share this machine.
    #[arg(long, alias = "patience", value_name = "TIME", value_parser = duration, default_value = "10s")]
    peer_timeout: Duration,
    /// Folder for the records and status sockets of the emulation.
    ///
    /// `inart doctor --state DIR/state --hosts DIR/hosts` reads them.
    #[arg(long = "debug-dir", value_name = "DIR")]
    expose: Option<PathBuf>,
    /// Let the controller watch the network and change plans, as `inart controller --follow`.
    #[arg(long)]
    follow: bool,
    /// Number of plan changes during the run; reports their cost (one scheme only).
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=MOST_CHANGES))]
    changes: Option<u32>,
    /// Random seed of plans, training and faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Program of another switch, with the command line of bmv2's simple_switch_grpc.
    #[arg(long, value_name = "PROGRAM")]
    switch: Option<PathBuf>,
    /// Use an existing network, described by this JSON file, as mininet/run.py writes it.
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// SVG file for a chart of the results.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// SVG file for a chart of each job's goodput over time, with events (one scheme only).
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Program to run once per worker, in the worker's network namespace.
    ///
    /// The program has the variables that `torchrun` sets and those that the Python package `inart` reads
    /// (docs/how-to/bring-your-program.md).
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Default number of rounds per job and scheme.
const ROUNDS: u32 = 100;
/// Largest number of plan changes, for which the largest number of rounds suffices.
const MOST_CHANGES: i64 = 20_000;
/// Default number of rounds per plan change: small gradients need this many during a change.
const ROUNDS_PER_CHANGE: u32 = 5;
/// Default number of images per worker and round.
const BATCH: usize = 32;

impl OnNetwork for Args {
    type Network = Switched;
    const SECTION: &'static Section = &SWITCHES;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(self, network.topology, invocation.json)
    }
}

/// Runs the command. A run that fails, rather than being impossible, ends with status 1.
fn run(args: Args, topology: Topology, json: bool) -> anyhow::Result<ExitCode> {
    if !args.command.is_empty() {
        refuse_what_the_program_decides(&args)?;
    }
    let workload = match args.gradient {
        // As many bytes as fit; the emulator refuses none, and too many.
        Some(size) => Workload::AllReduce { values: (size.0 / 4.0) as usize },
        None => Workload::Train { batch: args.batch.unwrap_or(BATCH) },
    };
    let enough = ROUNDS.max(args.changes.unwrap_or(0).saturating_mul(ROUNDS_PER_CHANGE));
    let work = Work { rounds: args.rounds.unwrap_or(enough), workload };
    let one = !args.command.is_empty() || args.changes.is_some() || args.timeline.is_some();
    let mut schemes = match (args.schemes.is_empty(), one) {
        (false, _) => args.schemes,
        (true, _) if args.own.is_given() => Vec::new(),
        (true, false) => inart_emulator::DEFAULT_SCHEMES.to_vec(),
        (true, true) => vec![inart_planner_aggregation::schemes::DEFAULT],
    };
    if args.own.is_given() {
        schemes.insert(0, inart_emulator::OWN);
    }
    args.own.refuse_settings_of_schemes(&schemes, args.aggregation_depth, args.results)?;
    let plans = args.own.read(&topology)?;
    // bmv2 has them, too, but takes a gigabyte of memory and seconds to load the larger ones.
    let is_preferred = |values| {
        (args.switch.is_none() || values <= ValuesPerFrame::N256) && args.target.prefers(values, None)
    };
    let values = args.values.of(&topology, None, is_preferred).context("--values")?;
    let options = Options {
        topology,
        schemes,
        levels: args.aggregation_depth,
        results: args.results,
        jobs: if plans.is_empty() { args.jobs } else { plans.len() },
        plans,
        target: args.target,
        values,
        window_chunks: args.window,
        scale: args.scale,
        drop: args.drop,
        faults: args.faults.as_deref().map(read_faults).transpose()?.unwrap_or_default(),
        peer_timeout: args.peer_timeout,
        follow: args.follow,
        changes: args.changes,
        expose: args.expose.as_deref().map(make_exposed).transpose()?,
        seed: args.seed,
        program: std::env::current_exe().context("finding this command's own file")?,
        switch: args.switch,
        external: args.network.as_deref().map(read_external).transpose()?,
    };
    let faults_place = args.faults.map_or_else(|| "--faults".into(), |file| faults_place(&file));
    if !args.command.is_empty() {
        return program::run(&options, args.command, json, &faults_place);
    }
    // Before the work, not after: a chart that cannot be written is wrong input.
    args.chart.as_deref().map_or(Ok(()), |file| try_file("--chart", file))?;
    args.timeline.as_deref().map_or(Ok(()), |file| try_timeline(file, &options.schemes))?;
    let bar = progress_bar();
    let result = emulate(&options, work, &mut |progress| show(&bar, progress));
    bar.finish_and_clear();
    match result {
        Ok(measured) => present(&measured, args.chart.as_deref(), args.timeline.as_deref(), json),
        Err(error) => {
            if let Some(folder) = &options.expose {
                remove_unused(folder);
            }
            match error {
                error if error.is_failure() => {
                    show_failure(&error, json)?;
                    Ok(ExitCode::FAILURE)
                }
                inart_emulator::Error::Faults(error) => Err(error).context(faults_place),
                error => Err(with_flag(error)),
            }
        }
    }
}

/// Prints the measurements, and draws the chart.
fn present(
    measured: &Measured<Summary>,
    chart: Option<&Path>,
    timeline: Option<&Path>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let Measured { report: summary, problem } = measured;
    // The figures are printed even if a chart of them cannot be written.
    let mut drawn = chart.map_or(Ok(()), |file| write_file("--chart", file, &chart::draw(summary)));
    if let (Some(file), Some(scheme)) = (timeline, summary.schemes.first()) {
        drawn = drawn.and(write_file("--timeline", file, &scheme.timeline.draw(&summary.topology)));
    }
    if json {
        let mut document = serde_json::to_value(summary)?;
        if let Some(problem) = problem {
            document["bit_exact"] = false.into();
            document["error"] = problem.to_string().into();
        }
        print(&format!("{document}\n"))?;
    } else {
        print(&summary.to_string())?;
        if let Some(file) = chart.filter(|_| drawn.is_ok()) {
            print(&format!("\nchart: {}\n", file.display()))?;
        }
        if let (Some(file), Some(scheme)) = (timeline, summary.schemes.first()) {
            let jobs: Vec<_> = scheme.jobs.iter().map(|job| job.job.as_str()).collect();
            let head = format!("what happened, and the goodput of {} from then on:", jobs.join(", "));
            print(&format!("\n{head}\n{}time line: {}\n", scheme.timeline, file.display()))?;
        }
    }
    drawn?;
    if let Some(problem) = problem {
        eprintln!("error: {problem}");
        return Ok(ExitCode::FAILURE);
    }
    // The measurements are printed even if fewer changes than requested were made, which is a failure.
    Ok(match summary.changes.as_ref().and_then(|changes| changes.problem.as_ref()) {
        Some(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    })
}

/// Prints the error of a failed run.
fn show_failure(error: &inart_emulator::Error, json: bool) -> anyhow::Result<()> {
    eprintln!("error: {error}");
    if json {
        let mut document = serde_json::json!({ "bit_exact": false, "error": error.to_string() });
        if let inart_emulator::Error::Aborted(aborted) = error {
            document["given_up"] = serde_json::to_value(aborted)?;
            document["as_promised"] = aborted.is_orderly().into();
        }
        print(&format!("{document}\n"))?;
    }
    Ok(())
}

/// Refuses flags that a user's program decides itself: its sums and its charts.
fn refuse_what_the_program_decides(args: &Args) -> anyhow::Result<()> {
    let given = [
        ("rounds", args.rounds.is_some()),
        ("gradient", args.gradient.is_some()),
        ("batch", args.batch.is_some()),
        ("chart", args.chart.is_some()),
        ("timeline", args.timeline.is_some()),
        ("changes", args.changes.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => anyhow::bail!(
            "--{option}: is for InArt's own workers; with a program of yours leave it out, or leave out the program"
        ),
    }
}

fn make_exposed(folder: &Path) -> anyhow::Result<PathBuf> {
    let made = std::fs::create_dir_all(folder.join("hosts")).and_then(|()| folder.canonicalize());
    made.with_context(|| format!("--debug-dir {}", folder.display()))
}

/// Removes the folder of `--debug-dir` if the run was refused before it put anything there.
fn remove_unused(folder: &Path) {
    let _ = std::fs::remove_dir(folder.join("hosts"));
    let _ = std::fs::remove_dir(folder); // stays if anything is in it
}

fn read_faults(file: &Path) -> anyhow::Result<Faults> {
    let place = || faults_place(file);
    let text = crate::commands::document::read(file).with_context(place)?;
    refuse_network(&text, "a fault schedule (docs/how-to/inject-faults.md)").with_context(place)?;
    Faults::from_yaml(&text).with_context(place)
}

fn faults_place(file: &Path) -> String {
    format!("--faults {}", file.display())
}

fn read_external(file: &Path) -> anyhow::Result<ExternalTestbed> {
    let place = || format!("--network {}", file.display());
    let text = crate::commands::document::read(file).with_context(place)?;
    ExternalTestbed::from_json(&text).map_err(with_flag)
}

/// Sees that a time line of these schemes can be drawn and written.
fn try_timeline(file: &Path, schemes: &[&dyn Scheme]) -> anyhow::Result<()> {
    if schemes.len() != 1 {
        let first = schemes.first().map_or("optimized", |scheme| scheme.name());
        anyhow::bail!("--timeline: it is drawn for one scheme; name one, as in --schemes {first}");
    }
    try_file("--timeline", file)
}
