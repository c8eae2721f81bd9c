//! `inart experiment`.

mod files;
mod measure;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use inart_experiments::{
    Experiment, RunResult, csv, experiment, experiments, markdown, run as run_experiments, svg,
};
use indicatif::{ProgressBar, ProgressStyle};

use super::output::print;
use files::{Document, make, write};

/// Arguments of `inart experiment`.
#[derive(clap::Args)]
#[command(after_help = super::scheme::list())]
pub struct Args {
    /// Its name, such as inart-fig9; `all` for all of them, `list` for their names.
    name: String,
    /// Networks (and roundings) per setting, of the seeds from 1 on.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// Folder for a CSV file and an SVG chart per experiment.
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Replace this document's tables as well: what stands between `<!-- table NAME -->` and `<!-- end -->`.
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
    #[command(flatten)]
    measure: measure::MeasureArgs,
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let chosen = match args.name.as_str() {
        "list" => {
            list(json)?;
            return Ok(ExitCode::SUCCESS);
        }
        "all" => experiments(),
        name => vec![named(name)?],
    };
    if args.measure.is_wanted() {
        return measure::run(&args.measure, &args.out, args.tables.as_deref(), &chosen, json);
    }
    // Before the work, not after: a place that cannot be written to is wrong input.
    let names = chosen.iter().map(|experiment| experiment.name.to_owned());
    let mut document = args.tables.as_ref().map(|path| Document::read(path, names)).transpose()?;
    make(&args.out)?;
    let mut results = with_progress(&chosen, args.seeds)?;
    for result in &mut results {
        result.command = Some(format!("inart experiment {} --seeds {}", result.experiment, result.seeds));
    }
    for result in &results {
        write(&args.out, &format!("{}.csv", result.experiment), &csv(result))?;
        write(&args.out, &format!("{}.svg", result.experiment), &svg(result))?;
        if let Some(document) = &mut document {
            document.replace(result.experiment, &markdown(result));
        }
        if !json {
            print(&format!("{result}\n"))?;
        }
    }
    if let Some(document) = document {
        document.write()?;
    }
    if json {
        let one = (args.name != "all").then(|| serde_json::to_string_pretty(&results[0]));
        print(&format!("{}\n", one.unwrap_or_else(|| serde_json::to_string_pretty(&results))?))?;
    } else {
        print(&format!("tables and charts: {}\n", args.out.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn named(name: &str) -> anyhow::Result<Experiment> {
    experiment(name).with_context(|| {
        let names: Vec<_> = experiments().iter().map(|experiment| experiment.name).collect();
        format!("unknown experiment \"{name}\"; one of {}, or all, or list", names.join(", "))
    })
}

fn list(json: bool) -> anyhow::Result<()> {
    if json {
        let entry =
            |e: &Experiment| serde_json::json!({"name": e.name, "title": e.title, "figure": e.figure});
        return print(&format!("{}\n", serde_json::Value::from_iter(experiments().iter().map(entry))));
    }
    let width = experiments().iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    let line = |e: &Experiment| {
        let figure = e.figure.map_or(String::new(), |figure| format!(" (Fig. {figure} of the paper)"));
        format!("{:width$}  {}{figure}\n", e.name, e.title)
    };
    print(&experiments().iter().map(line).collect::<String>())
}

/// A bar on a terminal's standard error; silent in a pipe.
fn with_progress(experiments: &[Experiment], seeds: u64) -> anyhow::Result<Vec<RunResult>> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} plans, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    let results = run_experiments(experiments, seeds, &|done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok(results?)
}
