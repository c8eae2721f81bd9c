//! Runs `inart experiment`.

mod files;
mod measure;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, ensure};
use inart_experiments::{
    Comparison, Experiment, RunResult, STUDY_SEEDS, Study, comparison_csv, comparison_svg, csv, experiment,
    experiments, run as run_experiments, run_studies, studies as all_studies, study, svg,
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::output::print;
use files::{make, write};

/// Arguments of `inart experiment`.
#[derive(clap::Args)]
#[command(after_help = crate::commands::scheme::list())]
pub struct Args {
    /// Name, such as inart-fig9, netstorm-fig13, selmcast-fig7 or r2sp-fig8; or all, or list.
    ///
    /// `all` runs all experiments. `list` prints their names.
    name: String,
    /// Networks (and roundings) per setting, of seeds from 1 [default: 30; 5 outside the InArt paper].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// Folder for a CSV file and an SVG chart per experiment.
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    #[command(flatten)]
    measure: measure::MeasureArgs,
}

/// Default number of seeds of the InArt paper's experiments.
const SEEDS: u64 = 30;

/// Experiments to run: figures of the InArt paper, and those of other papers.
struct Selection {
    figures: Vec<Experiment>,
    studies: Vec<&'static Study>,
}

impl Selection {
    fn named(name: &str) -> anyhow::Result<Selection> {
        if name == "all" {
            return Ok(Selection { figures: experiments(), studies: all_studies().collect() });
        }
        let chosen = Selection {
            figures: experiment(name).into_iter().collect(),
            studies: study(name).into_iter().collect(),
        };
        if chosen.names().next().is_some() {
            return Ok(chosen);
        }
        let all = Selection { figures: experiments(), studies: all_studies().collect() };
        let names: Vec<_> = all.names().collect();
        Err(anyhow!("unknown experiment \"{name}\"; one of {}, or all, or list", names.join(", ")))
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let figures = self.figures.iter().map(|experiment| experiment.name);
        figures.chain(self.studies.iter().map(|study| study.name))
    }
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    if args.name == "list" {
        list(json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = Selection::named(&args.name)?;
    if args.measure.is_wanted() {
        let is_simulated = chosen.figures.is_empty();
        ensure!(
            !is_simulated,
            "--measure: {} is simulated only; inart-fig8 to inart-fig13 are measured",
            args.name
        );
        return measure::run(&args.measure, &args.out, &chosen.figures, json);
    }
    // A folder that cannot be created is bad input, so it is created before the work.
    make(&args.out)?;
    let mut values = Vec::new();
    for result in figures(&chosen.figures, args.seeds.unwrap_or(SEEDS))? {
        let files = Files { csv: csv(&result), svg: Some(svg(&result)) };
        files.write(result.experiment, &args.out)?;
        values.push(serde_json::to_value(&result)?);
        if !json {
            print(&format!("{result}\n"))?;
        }
    }
    for result in studies(&chosen.studies, args.seeds.unwrap_or(STUDY_SEEDS))? {
        let files =
            Files { csv: comparison_csv(&result), svg: (result.seeds > 0).then(|| comparison_svg(&result)) };
        files.write(result.study.name, &args.out)?;
        values.push(serde_json::to_value(&result)?);
        if !json {
            print(&format!("{result}\n"))?;
        }
    }
    if json {
        let one = values.first().filter(|_| args.name != "all").map(serde_json::to_string);
        print(&format!("{}\n", one.unwrap_or_else(|| serde_json::to_string(&values))?))?;
    } else {
        print(&format!("CSV files and charts: {}\n", args.out.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Files of a result.
struct Files {
    csv: String,
    svg: Option<String>,
}

impl Files {
    fn write(&self, name: &str, out: &Path) -> anyhow::Result<()> {
        write(out, &format!("{name}.csv"), &self.csv)?;
        if let Some(svg) = &self.svg {
            write(out, &format!("{name}.svg"), svg)?;
        }
        Ok(())
    }
}

fn list(json: bool) -> anyhow::Result<()> {
    if json {
        let figures = experiments();
        let figure = |e: &Experiment| serde_json::json!({"name": e.name, "title": e.title, "figure": e.figure, "paper": "InArt"});
        let study = |s: &Study| {
            let figure = s.place.strip_prefix("Fig. ").and_then(|number| number.parse::<u32>().ok());
            serde_json::json!({"name": s.name, "title": s.title, "figure": figure, "paper": s.paper})
        };
        let all = figures.iter().map(figure).chain(all_studies().map(study));
        return print(&format!("{}\n", serde_json::Value::from_iter(all)));
    }
    let figure = |e: &Experiment| {
        let place = e.figure.map_or(String::new(), |figure| format!(" (Fig. {figure} of the InArt paper)"));
        (e.name, format!("{}{place}", e.title))
    };
    let study = |s: &Study| (s.name, format!("{} ({})", s.title, s.source()));
    let lines: Vec<_> = experiments().iter().map(figure).chain(all_studies().map(study)).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    print(&lines.iter().map(|(name, text)| format!("{name:width$}  {text}\n")).collect::<String>())
}

/// Creates a progress bar on standard error, which prints nothing in a pipe.
fn bar(what: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {what}, {{elapsed}}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn figures(experiments: &[Experiment], seeds: u64) -> anyhow::Result<Vec<RunResult>> {
    if experiments.is_empty() {
        return Ok(Vec::new());
    }
    let bar = bar("plans");
    let results = run_experiments(experiments, seeds, &|done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let mut results = results?;
    for result in &mut results {
        result.command = Some(format!("inart experiment {} --seeds {}", result.experiment, result.seeds));
    }
    Ok(results)
}

fn studies(studies: &[&'static Study], seeds: u64) -> anyhow::Result<Vec<Comparison>> {
    let bar = bar("runs");
    let results = run_studies(studies, seeds, &|done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let mut results = results?;
    for result in &mut results {
        let flags = if result.seeds > 0 { format!(" --seeds {}", result.seeds) } else { String::new() };
        result.command = Some(format!("inart experiment {}{flags}", result.study.name));
    }
    Ok(results)
}
