//! `inart emulate`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use inart_emulator::fault::DropRate;
use inart_emulator::scale::Scale;
use inart_emulator::{Options, Progress, chart, emulate};
use inart_planner::{Scheme, Topology};
use inart_wire::ValuesPerPacket;
use indicatif::{ProgressBar, ProgressStyle};

/// Arguments of `inart emulate`.
#[derive(clap::Args)]
pub struct Args {
    /// The network and its jobs: a YAML or JSON file.
    topology: PathBuf,
    /// Schemes to compare.
    #[arg(long, value_delimiter = ',', default_value = "inart,atp,lbmm,even")]
    schemes: Vec<Scheme>,
    /// Rounds of training per job and scheme.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
    /// Jobs that train at the same time: the topology's first ones, and copies of them if it has fewer.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Values per frame: 32, 64 or 256.
    #[arg(long, default_value_t = ValuesPerPacket::N256)]
    values: ValuesPerPacket,
    /// Chunks in flight per worker and shard, a power of two.
    #[arg(long, default_value_t = 64)]
    window: u32,
    /// Images per worker and round.
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Multiply the topology's rates by this, like 1/200 [default: what this machine can carry].
    #[arg(long)]
    scale: Option<Scale>,
    /// Share of frames that every link drops, like 1%.
    #[arg(long, default_value = "0")]
    drop: DropRate,
    /// Decides plans, training and faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use another switch with the command line of bmv2's simple_switch_grpc, instead of the embedded one.
    #[arg(long, value_name = "PROGRAM")]
    switch: Option<PathBuf>,
    /// Draw the figures into this SVG file [default: out/ and the topology's name].
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Runs the command. A run that fails, rather than being impossible, ends with status 1.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let place = args.topology.display().to_string();
    let text = std::fs::read_to_string(&args.topology).with_context(|| place.clone())?;
    let options = Options {
        topology: Topology::from_yaml(&text).context(place)?,
        schemes: args.schemes,
        jobs: args.jobs,
        rounds: args.rounds,
        batch: args.batch,
        values: args.values,
        window_chunks: args.window,
        scale: args.scale,
        drop: args.drop,
        seed: args.seed,
        program: std::env::current_exe().context("finding this command's own file")?,
        switch: args.switch,
    };
    // Before the work, not after: a chart that cannot be written is wrong input.
    let chart = args.chart.unwrap_or_else(|| default_chart(options.topology.name()));
    prepare(&chart)?;
    let bar = progress_bar();
    let result = emulate(&options, &mut |progress| show(&bar, progress));
    bar.finish_and_clear();
    let summary = match result {
        Ok(summary) => summary,
        Err(error) if error.is_failure() => {
            eprintln!("error: {error}");
            if json {
                print(&serde_json::json!({ "bit_exact": false, "error": error.to_string() }).to_string())?;
            }
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    };
    std::fs::write(&chart, chart::draw(&summary)).with_context(|| chart_place(&chart))?;
    if json {
        print(&serde_json::to_string_pretty(&summary)?)?;
    } else {
        print(&format!("{summary}\nchart: {}", chart.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{text}").context("standard output")
}

fn default_chart(topology: &str) -> PathBuf {
    Path::new("out").join(format!("{}.svg", topology.replace(['/', '\\'], "_")))
}

fn chart_place(chart: &Path) -> String {
    format!("--chart {}", chart.display())
}

/// Makes the chart's folder and sees that a file can be written there.
fn prepare(chart: &Path) -> anyhow::Result<()> {
    if let Some(folder) = chart.parent() {
        std::fs::create_dir_all(folder).with_context(|| chart_place(chart))?;
    }
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(chart)
        .map(drop)
        .with_context(|| chart_place(chart))
}

/// Draws itself on a terminal's standard error, and is silent in a pipe.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg:22} {bar:40} {pos}/{len} rounds, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn show(bar: &ProgressBar, progress: Progress<'_>) {
    bar.set_length(progress.rounds_total.into());
    bar.set_position(progress.rounds_done.into());
    if bar.message() != progress.stage {
        bar.set_message(progress.stage.to_owned());
    }
}
